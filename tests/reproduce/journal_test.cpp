#include "reproduce/journal.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "support/scratch_folder.hpp"

namespace kalmia::reproduction {
namespace {

const Json kKind = {{"journal", 1}, {"experiment", "linear"}, {"test", 100}};

FinishedCell cell(int n) {
  FinishedCell made{"recursive-filter", "hidden=64", n, 3, {}};
  made.outcomes.resize(2);
  made.outcomes[0].row.method = "recursive-filter";
  made.outcomes[0].row.n = n;
  made.outcomes[0].row.state_mse = 0.1 + 1e-17 * n;
  made.outcomes[0].row.seconds = 1.5;
  made.outcomes[0].channels = {1.0 / 3, -2};
  made.outcomes[1].row.method = "smoothed";
  return made;
}

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void append(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::app) << text;
}

class JournalTest : public ::testing::Test {
 protected:
  ScratchFolder folder_;
  std::string path_ = folder_.file("journal.jsonl");
};

TEST_F(JournalTest, RemembersCellsBitForBit) {
  {
    Journal journal(path_, kKind);
    EXPECT_TRUE(journal.finished().empty());
    journal.add(cell(128));
    journal.add(cell(512));
  }
  const Journal journal(path_, kKind);
  ASSERT_EQ(journal.finished().size(), 2u);
  const FinishedCell& found = journal.finished()[1];
  EXPECT_EQ(found.task, "recursive-filter");
  EXPECT_EQ(found.settings, "hidden=64");
  EXPECT_EQ(found.n, 512);
  EXPECT_EQ(found.seed, 3u);
  EXPECT_EQ(found.outcomes[0].row.state_mse, cell(512).outcomes[0].row.state_mse);
  EXPECT_EQ(found.outcomes[0].channels, cell(512).outcomes[0].channels);
  EXPECT_FALSE(found.outcomes[1].row.state_mse);
}

TEST_F(JournalTest, ATrajectoryThatIsNotFiniteIsLeftOut) {
  FinishedCell lost = cell(128);
  lost.outcomes[0].channels[1] = std::nan("");
  { Journal(path_, kKind).add(lost); }
  const Journal journal(path_, kKind);
  ASSERT_EQ(journal.finished().size(), 1u);
  EXPECT_TRUE(journal.finished()[0].outcomes[0].channels.empty());
}

TEST_F(JournalTest, DropsATornLastLineAndGoesOn) {
  {
    Journal journal(path_, kKind);
    journal.add(cell(128));
  }
  const std::string whole = text_of(path_);
  append(path_, whole.substr(whole.find('\n') + 1, 60));
  {
    Journal journal(path_, kKind);
    EXPECT_EQ(journal.finished().size(), 1u);
    journal.add(cell(512));
  }
  EXPECT_EQ(Journal(path_, kKind).finished().size(), 2u);
}

TEST_F(JournalTest, ATornFirstLineIsANewJournal) {
  append(path_, "{\"journal\": 1, \"exp");
  { Journal(path_, kKind).add(cell(128)); }
  EXPECT_EQ(Journal(path_, kKind).finished().size(), 1u);
}

TEST_F(JournalTest, RefusesOneOfAnotherKindAndSaysWhatDiffers) {
  { const Journal journal(path_, kKind); }
  Json other = kKind;
  other["test"] = 200;
  try {
    const Journal journal(path_, other);
    FAIL();
  } catch (const ConfigError& e) {
    EXPECT_NE(std::string(e.what()).find("test = 100, but this one has 200"), std::string::npos)
        << e.what();
  }
  EXPECT_EQ(text_of(path_), kKind.dump() + "\n");
}

TEST_F(JournalTest, AFreshOneForgetsWhatWasThere) {
  { Journal(path_, kKind).add(cell(128)); }
  Json other = kKind;
  other["test"] = 200;
  { EXPECT_TRUE(Journal(path_, other, true).finished().empty()); }
  EXPECT_EQ(text_of(path_), other.dump() + "\n");
}

TEST_F(JournalTest, RefusesAFileThatIsNone) {
  append(path_, "a,b\n1,2\n");
  EXPECT_THROW(Journal(path_, kKind), DataError);
}

TEST_F(JournalTest, NamesALineThatIsNoCell) {
  { const Journal journal(path_, kKind); }
  append(path_, "{\"task\": 5}\n");
  { std::ofstream(path_, std::ios::app) << "{}\n"; }
  try {
    const Journal journal(path_, kKind);
    FAIL();
  } catch (const DataError& e) {
    EXPECT_NE(std::string(e.what()).find("journal.jsonl:2"), std::string::npos) << e.what();
  }
}

TEST_F(JournalTest, ALineThatIsNestedBeyondReasonIsRefused) {
  { const Journal journal(path_, kKind); }
  append(path_, std::string(100000, '[') + std::string(100000, ']') + "\n");
  try {
    const Journal journal(path_, kKind);
    FAIL();
  } catch (const DataError& e) {
    const std::string message = e.what();
    EXPECT_NE(message.find("journal.jsonl:2: arrays and objects more than 64 deep"),
              std::string::npos)
        << message;
  }
}

TEST_F(JournalTest, TwoRunsDoNotShareOne) {
  const Journal journal(path_, kKind);
  EXPECT_THROW(Journal(path_, kKind), ConfigError);
}

TEST_F(JournalTest, WithoutAFolderThereIsNone) {
  EXPECT_THROW(Journal(folder_.file("no/such/journal.jsonl"), kKind), IoError);
}

}  // namespace
}  // namespace kalmia::reproduction
