#include "stream_answers.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/descriptor.hpp"
#include "kalmia/error.hpp"
#include "kalmia/text.hpp"
#include "report.hpp"

namespace kalmia::cli {
namespace {

std::string json_text(std::string_view text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

// A column's name, quoted where a reader of CSV would otherwise see something else.
std::string csv_field(const std::string& text) {
  constexpr const char* kBlanks = " \t";
  if (text.find_first_of(",;\t\"\r\n") == std::string::npos &&
      text.find_first_not_of(kBlanks) == 0 && text.find_last_not_of(kBlanks) == text.size() - 1)
    return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

StreamAnswers::StreamAnswers(Listing listing, bool keyed, bool json)
    : listing_(std::move(listing)),
      mean_(listing_.names().size()),
      covariance_(mean_.size() * mean_.size()),
      keyed_(keyed),
      json_(json),
      terminal_(isatty(STDOUT_FILENO) == 1),
      names_(listing_.names()) {
  for (const std::string& name : listing_.names()) names_.push_back(name + "_std");
  for (const std::string& name : names_) labels_.push_back(json_text(name) + ":");
}

void StreamAnswers::add_header() {
  if (keyed_) text_ += "key,";
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (i > 0) text_ += ',';
    text_ += csv_field(terminal_ ? printable(names_[i]) : names_[i]);
  }
  text_ += '\n';
}

void StreamAnswers::add(std::string_view key, const Stream& stream) {
  listing_.at(stream.mean(), stream.covariance(), mean_, covariance_);
  if (json_) {
    add_json(key, stream.log_likelihood());
  } else {
    add_csv(key);
  }
}

double StreamAnswers::moment(std::size_t i) const {
  const std::size_t n = mean_.size();
  return i < n ? mean_[i] : std::sqrt(covariance_[(i - n) * (n + 1)]);
}

void StreamAnswers::add_csv(std::string_view key) {
  if (keyed_) {
    // As it came: what was a field of the line is one of the answer.
    text_ += terminal_ ? printable(key) : std::string(key);
    text_ += ',';
  }
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (i > 0) text_ += ',';
    fmt::format_to(std::back_inserter(text_), "{}", moment(i));
  }
  text_ += '\n';
}

void StreamAnswers::add_json(std::string_view key, double log_likelihood) {
  text_ += '{';
  if (keyed_) text_ += "\"key\":" + json_text(key) + ",";
  for (std::size_t i = 0; i < names_.size(); ++i) add_json_value(labels_[i], moment(i));
  add_json_value("\"log_likelihood\":", log_likelihood);
  text_.back() = '}';
  text_ += '\n';
}

void StreamAnswers::add_json_value(std::string_view label, double number) {
  text_ += label;
  if (std::isfinite(number)) {
    fmt::format_to(std::back_inserter(text_), "{},", number);
  } else {
    text_ += "null,";
  }
}

void StreamAnswers::flush() {
  for (std::size_t sent = 0; sent < text_.size();) {
    const ssize_t count = write(STDOUT_FILENO, text_.data() + sent, text_.size() - sent);
    if (count >= 0) {
      sent += static_cast<std::size_t>(count);
    } else if (!try_again(STDOUT_FILENO, POLLOUT)) {
      throw IoError(fmt::format("standard output: {}", std::strerror(errno)));
    }
  }
  text_.clear();
}

}  // namespace kalmia::cli
