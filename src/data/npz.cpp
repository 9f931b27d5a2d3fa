#include "data/npz.hpp"

#include <algorithm>
#include <vector>

#include "data/arrays.hpp"
#include "data/npy.hpp"
#include "data/table.hpp"
#include "data/zip.hpp"

namespace kalmia::data {
namespace {

std::vector<int> lengths_of(const auto& series) {
  std::vector<int> lengths;
  lengths.reserve(series.size());
  for (const auto& one : series) lengths.push_back(one.steps);
  return lengths;
}

// The arrays that `member` of each series holds.
template <typename OneSeries>
std::vector<const std::vector<double>*> values_of(const std::vector<OneSeries>& series,
                                                  std::vector<double> OneSeries::*member) {
  std::vector<const std::vector<double>*> values;
  values.reserve(series.size());
  for (const OneSeries& one : series) values.push_back(&(one.*member));
  return values;
}

bool equal_lengths(const std::vector<int>& lengths) {
  return std::adjacent_find(lengths.begin(), lengths.end(), std::not_equal_to<>()) == lengths.end();
}

void add_numbers(ZipWriter& zip, const std::string& name, const PaddedArray& array) {
  zip.add(name + ".npy", npy_numbers(array.shape, array.values));
}

// What data sets and estimates have in common: t, lengths, keys, their names.
template <typename Source>
void add_frame(ZipWriter& zip, const Source& source) {
  const std::vector<int> lengths = lengths_of(source.series);
  if (source.time_kind != TimeKind::None) {
    using OneSeries = typename decltype(source.series)::value_type;
    const PaddedArray t = padded(lengths, {}, values_of(source.series, &OneSeries::t));
    zip.add("t.npy", source.time_kind == TimeKind::Date ? npy_dates(t.shape, t.values)
                                                        : npy_numbers(t.shape, t.values));
    if (!source.time_name.empty() && source.time_name != "t")
      zip.add("t_name.npy", npy_texts(std::vector{source.time_name}));
  }
  if (!equal_lengths(lengths)) {
    const std::vector<long long> numbers(lengths.begin(), lengths.end());
    const std::size_t shape[] = {numbers.size()};
    zip.add("lengths.npy", npy_integers(shape, numbers));
  }
  std::vector<std::string> keys;
  for (const auto& one : source.series) keys.push_back(one.key);
  if (std::any_of(keys.begin(), keys.end(), [](const std::string& key) { return !key.empty(); }))
    zip.add("keys.npy", npy_texts(keys));
  if (!source.key_name.empty() && source.key_name != "unique_id")
    zip.add("key_name.npy", npy_texts(std::vector{source.key_name}));
}

}  // namespace

Dataset read_npz(const std::string& source, std::string_view bytes, const DataOptions& options) {
  const ZipReader zip(source, bytes);
  ArrayMap arrays;
  for (const char* name : {"y", "x", "mask", "t", "u", "y_std", "lengths", "y_names", "x_names",
                           "u_names", "y_std_names", "keys", "t_name", "key_name"}) {
    const std::string entry = std::string(name) + ".npy";
    if (zip.has(entry))
      arrays.emplace(name, parse_npy(source + ": array " + name, zip.read(entry)));
  }
  // Arrays that are of no use to us serve to say what there is instead of y.
  if (!arrays.contains("y"))
    for (const std::string& entry : zip.names())
      if (entry.ends_with(".npy")) arrays.emplace(entry.substr(0, entry.size() - 4), NpyArray());
  return dataset_of(source, arrays, options);
}

Dataset read_npy(const std::string& source, std::string_view bytes, const DataOptions& options) {
  ArrayMap arrays;
  arrays.emplace("y", parse_npy(source, bytes));
  return dataset_of(source, arrays, options);
}

void write_npz(const std::string& path, const Dataset& data, AtomicFile& file) {
  check_sizes(data);
  ZipWriter zip(path, file);
  const std::vector<int> lengths = lengths_of(data.series);
  const auto add = [&](const std::string& name, std::vector<double> Series::*member,
                       const std::vector<std::string>& names) {
    if (names.empty()) return;
    add_numbers(zip, name, padded(lengths, {names.size()}, values_of(data.series, member)));
    zip.add(name + "_names.npy", npy_texts(names));
  };
  std::vector<std::string> truth_names;
  for (const std::string& name : data.x_names) truth_names.push_back(truth_name(name));
  add("y", &Series::y, data.y_names);
  add("x", &Series::x, truth_names);
  add("u", &Series::u, data.u_names);
  add("y_std", &Series::y_std, data.std_names);
  add_frame(zip, data);
  zip.finish();
}

void write_npz(const std::string& path, const Estimates& estimates, AtomicFile& file) {
  check_sizes(estimates);
  ZipWriter zip(path, file);
  const std::size_t N = estimates.state_names.size();
  const std::vector<int> lengths = lengths_of(estimates.series);
  add_numbers(zip, "mean",
              padded(lengths, {N}, values_of(estimates.series, &StateEstimates::mean)));
  if (std::any_of(estimates.series.begin(), estimates.series.end(),
                  [](const StateEstimates& s) { return !s.covariance.empty(); }))
    add_numbers(zip, "covariance",
                padded(lengths, {N, N}, values_of(estimates.series, &StateEstimates::covariance)));
  zip.add("names.npy", npy_texts(estimates.state_names));
  add_frame(zip, estimates);
  zip.finish();
}

namespace {

void write_one(const std::string& path, const std::vector<int>& lengths, std::size_t dim,
               const std::vector<const std::vector<double>*>& values, AtomicFile& file) {
  if (!equal_lengths(lengths))
    throw DataError(path + ": the series differ in length, which one array cannot say; use .npz");
  const PaddedArray array = padded(lengths, {dim}, values);
  file.write(npy_numbers(array.shape, array.values));
}

}  // namespace

void write_npy(const std::string& path, const Dataset& data, AtomicFile& file) {
  check_sizes(data);
  write_one(path, lengths_of(data.series), data.y_names.size(), values_of(data.series, &Series::y),
            file);
}

void write_npy(const std::string& path, const Estimates& estimates, AtomicFile& file) {
  check_sizes(estimates);
  write_one(path, lengths_of(estimates.series), estimates.state_names.size(),
            values_of(estimates.series, &StateEstimates::mean), file);
}

}  // namespace kalmia::data
