// Memory aligned to a line of lanes (64 bytes), sized once and then only viewed.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

namespace kalmia {

/// Bytes in a line of lanes: one cache line, and the widest vector register we use.
inline constexpr std::size_t kLineBytes = 64;

/// A zero-initialised array aligned to a line. Grows only through `resize`, which the
/// set-up code calls; the hot loops see spans and pointers.
template <typename T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  explicit Buffer(std::size_t size) { resize(size); }

  /// Makes room for `size` elements and sets all of them to zero. Keeps the allocation
  /// when it is large enough.
  void resize(std::size_t size) {
    if (size > capacity_) {
      data_.reset(
          static_cast<T*>(::operator new[](size * sizeof(T), std::align_val_t{kLineBytes})));
      capacity_ = size;
    }
    size_ = size;
    clear();
  }

  void clear() {
    if (size_ > 0) std::memset(static_cast<void*>(data_.get()), 0, size_ * sizeof(T));
  }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  std::span<T> span() { return {data_.get(), size_}; }
  std::span<const T> span() const { return {data_.get(), size_}; }

 private:
  struct Free {
    void operator()(T* p) const { ::operator delete[](p, std::align_val_t{kLineBytes}); }
  };
  std::unique_ptr<T[], Free> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace kalmia
