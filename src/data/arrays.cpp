#include "data/arrays.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "data/columns.hpp"
#include "data/table.hpp"
#include "data/text_number.hpp"
#include "data/value_checks.hpp"
#include "kalmia/text.hpp"

namespace kalmia::data {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

// What an array is: so many series of so many steps of so many numbers.
struct Extent {
  std::size_t series = 1;
  std::size_t steps = 0;
  std::size_t dim = 1;
};

class Maker {
 public:
  Maker(const std::string& source, const ArrayMap& arrays) : source_(source), arrays_(arrays) {
    data_.source = source;
  }

  Dataset make() {
    y_ = numbers("y");
    if (y_ == nullptr) refuse_without_y();
    read_extent();
    read_lengths();
    data_.y_names = names("y_names", extent_.dim, "y");
    values_into(*y_, extent_, &Series::y);
    apply_mask();
    if (const NpyArray* x = numbers("x")) {
      const Extent extent = extent_of("x", *x);
      data_.x_names = truth_names(extent.dim);
      values_into(*x, extent, &Series::x);
    }
    if (const NpyArray* u = numbers("u")) {
      const Extent extent = extent_of("u", *u);
      data_.u_names = names("u_names", extent.dim, "u");
      values_into(*u, extent, &Series::u);
    }
    read_stds();
    read_keys();
    read_time();
    check_all_names();
    check_values("y", &Series::y, data_.y_names);
    check_values("x", &Series::x, data_.x_names);
    check_values("u", &Series::u, data_.u_names);
    check_stds();
    return std::move(data_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw DataError(source_ + ": " + what); }

  const NpyArray* find(const std::string& name) const {
    const auto found = arrays_.find(name);
    return found == arrays_.end() ? nullptr : &found->second;
  }

  const NpyArray* numbers(const std::string& name) const {
    const NpyArray* array = find(name);
    if (array != nullptr && array->kind != NpyArray::Kind::Number)
      fail("array " + name + " does not hold numbers");
    return array;
  }

  // The entries of an array of text that must have `count`, or any number if that is 0.
  std::optional<std::vector<std::string>> texts(const std::string& name, std::size_t count) const {
    const NpyArray* array = find(name);
    if (array == nullptr) return {};
    if (array->kind != NpyArray::Kind::Text) fail("array " + name + " does not hold text");
    if (array->texts.size() != count)
      fail("array " + name + " has " + std::to_string(array->texts.size()) +
           " entries, but it must have " + std::to_string(count));
    return array->texts;
  }

  [[noreturn]] void refuse_without_y() const {
    std::vector<std::string> names;
    for (const auto& [name, array] : arrays_) names.push_back(name);
    fail("no array y with the measurements; the arrays are " +
         (names.empty() ? std::string("none") : name_list(names)) +
         "; save it as np.savez(file, y=...)");
  }

  void read_extent() {
    const std::vector<std::size_t>& shape = y_->shape;
    if (shape.empty() || shape.size() > 3)
      fail("array y has shape " + shape_text(shape) +
           ", but it must be (steps,), (steps, dim) or (series, steps, dim)");
    if (shape.size() == 3) extent_.series = shape[0];
    extent_.steps = shape[shape.size() == 3 ? 1 : 0];
    if (shape.size() > 1) extent_.dim = shape.back();
    check_steps(source_, extent_.steps);
    check_steps(source_, extent_.dim);
  }

  // Of truth and inputs: series and steps are those of y.
  Extent extent_of(const std::string& name, const NpyArray& array) const {
    const std::vector<std::size_t>& shape = array.shape;
    std::vector<std::size_t> leading = {extent_.steps};
    if (y_->shape.size() == 3) leading.insert(leading.begin(), extent_.series);
    Extent extent = extent_;
    const bool begins =
        shape.size() >= leading.size() && std::equal(leading.begin(), leading.end(), shape.begin());
    if (!begins || shape.size() > leading.size() + 1)
      fail("array " + name + " has shape " + shape_text(shape) + ", but that of y is " +
           shape_text(y_->shape) + "; they must agree in " +
           (leading.size() == 2 ? "series and steps" : "steps"));
    extent.dim = shape.size() == leading.size() ? 1 : shape.back();
    check_steps(source_, extent.dim);
    return extent;
  }

  void read_lengths() {
    data_.series.resize(extent_.series);
    for (Series& series : data_.series) series.steps = static_cast<int>(extent_.steps);
    const NpyArray* lengths = numbers("lengths");
    if (lengths == nullptr) return;
    if (lengths->shape != std::vector<std::size_t>{extent_.series})
      fail("array lengths has shape " + shape_text(lengths->shape) + ", but it must be (" +
           std::to_string(extent_.series) + ",), one length a series");
    for (std::size_t i = 0; i < extent_.series; ++i) {
      const double length = lengths->values[i];
      if (!(length >= 1 && length <= static_cast<double>(extent_.steps)) ||
          length != std::floor(length))
        fail("array lengths: " + number_text(length) + " for series " + std::to_string(i) +
             ", but it must be a whole number from 1 to " + std::to_string(extent_.steps));
      data_.series[i].steps = static_cast<int>(length);
    }
  }

  std::vector<std::string> names(const std::string& array, std::size_t dim,
                                 const std::string& letter) const {
    if (auto given = texts(array, dim)) return *given;
    if (dim == 1) return {letter};
    std::vector<std::string> numbered;
    for (std::size_t i = 1; i <= dim; ++i) numbered.push_back(letter + std::to_string(i));
    return numbered;
  }

  std::vector<std::string> truth_names(std::size_t dim) const {
    if (auto given = texts("x_names", dim)) return *given;
    // Numbered, after nothing: what an array without names is of, its shape alone can tell.
    std::vector<std::string> result;
    for (std::size_t i = 1; i <= dim; ++i) result.push_back(truth_name(std::to_string(i)));
    return result;
  }

  void values_into(const NpyArray& array, const Extent& extent,
                   std::vector<double> Series::*member) {
    for (std::size_t i = 0; i < extent.series; ++i) {
      const auto begin =
          array.values.begin() + static_cast<std::ptrdiff_t>(i * extent.steps * extent.dim);
      const auto count =
          static_cast<std::ptrdiff_t>(static_cast<std::size_t>(data_.series[i].steps) * extent.dim);
      (data_.series[i].*member).assign(begin, begin + count);
    }
  }

  void apply_mask() {
    const NpyArray* mask = numbers("mask");
    if (mask == nullptr) return;
    std::vector<std::size_t> rows = y_->shape;
    if (rows.size() > 1) rows.pop_back();
    const bool per_value = mask->shape == y_->shape;
    if (!per_value && mask->shape != rows)
      fail("array mask has shape " + shape_text(mask->shape) + ", but it must be that of y, " +
           shape_text(y_->shape) + (rows == y_->shape ? "" : " or " + shape_text(rows)));
    for (std::size_t i = 0; i < extent_.series; ++i) {
      std::vector<double>& y = data_.series[i].y;
      for (std::size_t n = 0; n < y.size(); ++n) {
        const std::size_t at = i * extent_.steps * extent_.dim + n;
        if (mask->values[per_value ? at : at / extent_.dim] == 0) y[n] = kMissing;
      }
    }
  }

  void read_stds() {
    const NpyArray* stds = numbers("y_std");
    if (stds == nullptr) return;
    if (stds->shape != y_->shape)
      fail("array y_std has shape " + shape_text(stds->shape) + ", but it must be that of y, " +
           shape_text(y_->shape));
    std::vector<std::string> usual = data_.y_names;
    for (std::string& name : usual) name += "_std";
    data_.std_names = texts("y_std_names", extent_.dim).value_or(usual);
    values_into(*stds, extent_, &Series::y_std);
  }

  void check_stds() const {
    for (std::size_t i = 0; i < data_.series.size(); ++i) {
      const Series& series = data_.series[i];
      for (std::size_t n = 0; n < series.y_std.size(); ++n)
        if (!usable_std(series.y_std[n], series.y[n]))
          refuse_std(place("y_std", i, n / extent_.dim), series.y_std[n],
                     data_.y_names[n % extent_.dim]);
    }
  }

  void read_keys() {
    if (auto keys = texts("keys", extent_.series)) {
      for (std::size_t i = 0; i < extent_.series; ++i) data_.series[i].key = (*keys)[i];
    } else if (extent_.series > 1) {
      for (std::size_t i = 0; i < extent_.series; ++i) data_.series[i].key = std::to_string(i);
    }
    if (auto name = texts("key_name", 1))
      data_.key_name = name->front();
    else if (extent_.series > 1 || find("keys") != nullptr)
      data_.key_name = "unique_id";
  }

  void read_time() {
    const NpyArray* t = find("t");
    if (t == nullptr) return;
    if (t->kind == NpyArray::Kind::Text)
      fail("array t holds text, but it must hold numbers or dates");
    const bool shared = t->shape == std::vector<std::size_t>{extent_.steps};
    if (!shared && t->shape != std::vector<std::size_t>{extent_.series, extent_.steps})
      fail("array t has shape " + shape_text(t->shape) + ", but it must be (" +
           std::to_string(extent_.steps) + ",) or (" + std::to_string(extent_.series) + ", " +
           std::to_string(extent_.steps) + ")");
    data_.time_kind = t->kind == NpyArray::Kind::Date ? TimeKind::Date : TimeKind::Number;
    const auto name = texts("t_name", 1);
    data_.time_name = name ? name->front() : "t";
    for (std::size_t i = 0; i < extent_.series; ++i) {
      Series& series = data_.series[i];
      const auto begin =
          t->values.begin() + static_cast<std::ptrdiff_t>(shared ? 0 : i * extent_.steps);
      series.t.assign(begin, begin + series.steps);
      double last = -std::numeric_limits<double>::infinity();
      for (std::size_t k = 0; k < series.t.size(); ++k) {
        if (!(series.t[k] > last && usable(series.t[k])))
          check_time(place("t", i, k), data_.time_kind, last, series.t[k]);
        last = series.t[k];
      }
    }
  }

  std::string place(const std::string& array, std::size_t series, std::size_t step) const {
    return source_ + ": array " + array +
           (extent_.series > 1 ? ", series " + std::to_string(series) : "") + ", step " +
           std::to_string(step);
  }

  void check_all_names() const {
    std::vector<std::string> all = data_.y_names;
    all.insert(all.end(), data_.x_names.begin(), data_.x_names.end());
    all.insert(all.end(), data_.u_names.begin(), data_.u_names.end());
    check_names(source_, all);
  }

  void check_values(const std::string& array, std::vector<double> Series::*member,
                    const std::vector<std::string>& names) const {
    for (std::size_t i = 0; i < data_.series.size(); ++i) {
      const std::vector<double>& values = data_.series[i].*member;
      for (std::size_t n = 0; n < values.size(); ++n)
        if (!usable(values[n]))
          refuse_value(
              place(array, i, n / names.size()) + ", column " + printable(names[n % names.size()]),
              values[n]);
    }
  }

  const std::string& source_;
  const ArrayMap& arrays_;
  const NpyArray* y_ = nullptr;
  Extent extent_;
  Dataset data_;
};

}  // namespace

Dataset dataset_of(const std::string& source, const ArrayMap& arrays, const DataOptions& options) {
  Dataset data = Maker(source, arrays).make();
  select_columns(data, options);
  return data;
}

PaddedArray padded(const std::vector<int>& lengths, const std::vector<std::size_t>& dims,
                   const std::vector<const std::vector<double>*>& values) {
  std::size_t width = 1;
  for (const std::size_t n : dims) width *= n;
  const std::size_t longest =
      lengths.empty() ? 0
                      : static_cast<std::size_t>(*std::max_element(lengths.begin(), lengths.end()));
  PaddedArray array;
  if (values.size() != 1) array.shape.push_back(values.size());
  array.shape.push_back(longest);
  array.shape.insert(array.shape.end(), dims.begin(), dims.end());
  array.values.reserve(values.size() * longest * width);
  for (std::size_t i = 0; i < values.size(); ++i) {
    array.values.insert(array.values.end(), values[i]->begin(), values[i]->end());
    array.values.resize((i + 1) * longest * width, kMissing);
  }
  return array;
}

}  // namespace kalmia::data
