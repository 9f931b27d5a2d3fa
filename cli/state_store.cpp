#include "state_store.hpp"

#include <cstring>

namespace kalmia::cli {
namespace {

constexpr std::size_t kSlotsInBlock = 1024;

}  // namespace

StateStore::StateStore(const Stream::State& fresh)
    : fresh_(fresh),
      network_bytes_(fresh.network.size() * sizeof(fresh.network[0])),
      filter_bytes_(fresh.filter.size() * sizeof(fresh.filter[0])),
      used_in_block_(kSlotsInBlock) {}

std::byte* StateStore::find(std::string_view key) {
  const auto known = slots_.find(key);
  if (known != slots_.end()) return known->second;
  std::byte* const slot = new_slot();
  save(fresh_, slot);
  slots_.emplace(key, slot);
  return slot;
}

std::byte* StateStore::new_slot() {
  const std::size_t slot_bytes = network_bytes_ + filter_bytes_;
  if (used_in_block_ == kSlotsInBlock) {
    blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(kSlotsInBlock * slot_bytes));
    used_in_block_ = 0;
  }
  return blocks_.back().get() + slot_bytes * used_in_block_++;
}

void StateStore::load(const std::byte* slot, Stream::State& state) const {
  state.network.resize(fresh_.network.size());
  state.filter.resize(fresh_.filter.size());
  std::memcpy(state.network.data(), slot, network_bytes_);
  std::memcpy(state.filter.data(), slot + network_bytes_, filter_bytes_);
}

void StateStore::save(const Stream::State& state, std::byte* slot) const {
  std::memcpy(slot, state.network.data(), network_bytes_);
  std::memcpy(slot + network_bytes_, state.filter.data(), filter_bytes_);
}

}  // namespace kalmia::cli
