#include "reproduce/journal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "base/json.hpp"

namespace kalmia::reproduction {
namespace {

[[noreturn]] void fail(const std::string& path, const char* what) {
  throw IoError(path + ": " + what + ": " + std::strerror(errno));
}

std::string read_all(int file, const std::string& path) {
  std::string text;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t n = ::read(file, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(path, "cannot be read");
    if (n == 0) return text;
    text.append(buffer, static_cast<std::size_t>(n));
  }
}

Json cell_json(const FinishedCell& cell) {
  Json outcomes = Json::array();
  for (const Outcome& each : cell.outcomes) {
    Json one = {{"row", row_json(each.row)}};
    const bool finite = std::all_of(each.channels.begin(), each.channels.end(),
                                    [](double value) { return std::isfinite(value); });
    if (!each.channels.empty() && finite) one["channels"] = each.channels;
    outcomes.push_back(std::move(one));
  }
  return {{"task", cell.task},
          {"settings", cell.settings},
          {"n", cell.n},
          {"seed", cell.seed},
          {"outcomes", outcomes}};
}

FinishedCell cell_from_json(const Json& json) {
  FinishedCell cell;
  json.at("task").get_to(cell.task);
  json.at("settings").get_to(cell.settings);
  json.at("n").get_to(cell.n);
  json.at("seed").get_to(cell.seed);
  for (const Json& each : json.at("outcomes")) {
    Outcome outcome;
    outcome.row = row_from_json(each.at("row"));
    if (each.contains("channels")) each.at("channels").get_to(outcome.channels);
    cell.outcomes.push_back(std::move(outcome));
  }
  return cell;
}

// The first key in which they differ, as text.
std::string difference(const Json& found, const Json& kind) {
  for (const auto& [key, value] : kind.items())
    if (!found.contains(key) || found.at(key) != value)
      return key + " = " + (found.contains(key) ? found.at(key).dump() : "nothing") +
             ", but this one has " + value.dump();
  return "more than this one knows";
}

}  // namespace

Journal::Journal(std::string path, const Json& kind, bool fresh) : path_(std::move(path)) {
  file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file_ < 0) fail(path_, "cannot be opened");
  try {
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) fail(path_, "cannot be locked");
      throw ConfigError(path_ + ": another run is writing it; wait for it, or give another folder");
    }
    if (fresh && ::ftruncate(file_, 0) != 0) fail(path_, "cannot be emptied");
    read(kind);
  } catch (...) {
    ::close(file_);
    throw;
  }
}

Journal::~Journal() { ::close(file_); }

void Journal::read(const Json& kind) {
  const std::string text = read_all(file_, path_);
  // Whole lines alone count; what follows the last line feed is torn.
  std::size_t begin = 0, line = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    ++line;
    const std::string_view row = std::string_view(text).substr(begin, end - begin);
    const std::string place = path_ + ":" + std::to_string(line);
    if (json_nesting(row) > kDeepestJson)
      throw DataError(place + ": arrays and objects more than " + std::to_string(kDeepestJson) +
                      " deep within one another, which no journal has; begin anew (--fresh), or " +
                      "remove the line");
    const Json json = Json::parse(row, nullptr, false);
    if (line == 1) {
      if (json.is_discarded() || !json.is_object())
        throw DataError(place + ": not a journal of kalmia reproduce; give another folder");
      if (json != kind)
        throw ConfigError(place + ": was written by a run with " + difference(json, kind) +
                          "; give another folder (--out), or begin anew (--fresh)");
      continue;
    }
    try {
      finished_.push_back(cell_from_json(json));
    } catch (const nlohmann::json::exception& e) {
      throw DataError(place + ": not a cell of a journal (" + e.what() +
                      "); begin anew (--fresh), or remove the line");
    }
  }
  if (begin < text.size() && ::ftruncate(file_, static_cast<off_t>(begin)) != 0)
    fail(path_, "cannot be cut to its last whole line");
  if (begin == 0) append(kind.dump());
}

void Journal::append(const std::string& line) {
  const std::string whole = line + "\n";
  const off_t before = ::lseek(file_, 0, SEEK_END);
  for (std::size_t done = 0; done < whole.size();) {
    const ssize_t n = ::write(file_, whole.data() + done, whole.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int reason = errno;
      // What was written of it would spoil the next line; if it cannot be cut off, reading does.
      [[maybe_unused]] const int cut = ::ftruncate(file_, before);
      errno = reason;
      fail(path_, "cannot be written");
    }
    done += static_cast<std::size_t>(n);
  }
  if (::fsync(file_) != 0) fail(path_, "cannot be brought to disk");
}

void Journal::add(const FinishedCell& cell) { append(cell_json(cell).dump()); }

}  // namespace kalmia::reproduction
