#include "toml_nesting.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kalmia/error.hpp"

namespace kalmia::cli {
namespace {

constexpr int kMostParts = 32;
constexpr int kDeepest = 32;

// Goes through the text as far as strings and comments hide what counts.
class Scanner {
 public:
  Scanner(const std::string& path, std::string_view text) : path_(path), text_(text) {}

  void run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"' || c == '\'') {
        skip_string(c);
        continue;
      }
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
        continue;
      }
      count(c);
      ++at_;
    }
  }

 private:
  void count(char c) {
    switch (c) {
      case '.':
        if (++dots_ >= kMostParts)
          fail(fmt::format("a name of more than {} parts, but at most {} are read", kMostParts,
                           kMostParts));
        break;
      case '[':
      case '{':
        dots_ = 0;
        if (++depth_ > kDeepest)
          fail(fmt::format("brackets more than {} deep within one another, but at most {} are read",
                           kDeepest, kDeepest));
        break;
      case ']':
      case '}':
        dots_ = 0;
        --depth_;
        break;
      case '\n':
        ++line_;
        dots_ = 0;
        break;
      case '=':
      case ',':
        dots_ = 0;
        break;
      default:
        break;
    }
  }

  // Of one line, or of several between three quotes; those of " have escapes.
  void skip_string(char quote) {
    const std::string three(3, quote);
    const bool lines = text_.substr(at_).starts_with(three);
    at_ += lines ? 3 : 1;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n' && !lines) return;  // never closed: the parser says so
      if (c == '\n') ++line_;
      if (c == '\\' && quote == '"') {
        if (at_ + 1 < text_.size() && text_[at_ + 1] == '\n') ++line_;
        at_ += 2;
      } else if (lines && text_.substr(at_).starts_with(three)) {
        at_ += 3;
        // Up to two quotes may stand before those that close.
        for (int i = 0; i < 2 && at_ < text_.size() && text_[at_] == quote; ++i) ++at_;
        return;
      } else if (!lines && c == quote) {
        ++at_;
        return;
      } else {
        ++at_;
      }
    }
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw ConfigError(fmt::format("{}:{}: {}", path_, line_, what));
  }

  const std::string& path_;
  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1, depth_ = 0, dots_ = 0;
};

}  // namespace

void check_toml_nesting(const std::string& path, std::string_view text) {
  Scanner(path, text).run();
}

}  // namespace kalmia::cli
