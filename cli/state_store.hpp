/// \file
/// The states of many series, packed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kalmia/model.hpp"

namespace kalmia::cli {

/// One Stream::State for each key. All states of a model have the same size, so that they lie in
/// large blocks without the headers of vectors and of allocations: about 80 bytes a key beside the
/// numbers themselves.
class StateStore {
 public:
  /// `fresh`: the state of a series before its first measurement.
  explicit StateStore(const Stream::State& fresh);

  /// Where the state of `key` lies; a new key begins fresh.
  std::byte* find(std::string_view key);
  void load(const std::byte* slot, Stream::State& state) const;
  void save(const Stream::State& state, std::byte* slot) const;

  std::size_t size() const { return slots_.size(); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };

  std::byte* new_slot();

  Stream::State fresh_;
  std::size_t network_bytes_;
  std::size_t filter_bytes_;
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::size_t used_in_block_;
  std::unordered_map<std::string, std::byte*, Hash, std::equal_to<>> slots_;
};

}  // namespace kalmia::cli
