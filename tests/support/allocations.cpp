#include "support/allocations.hpp"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace kalmia::test {

std::atomic<long> allocations{0};

namespace {

// Null if there is no memory.
void* tried(std::size_t size, std::size_t alignment) noexcept {
  ++allocations;
  const std::size_t whole = (size + alignment - 1) / alignment * alignment;
  return std::aligned_alloc(alignment, whole == 0 ? alignment : whole);
}

void* counted(std::size_t size, std::size_t alignment) {
  if (void* p = tried(size, alignment)) return p;
  throw std::bad_alloc();
}

}  // namespace
}  // namespace kalmia::test

using kalmia::test::counted;
using kalmia::test::tried;

void* operator new(std::size_t size) { return counted(size, alignof(std::max_align_t)); }
void* operator new[](std::size_t size) { return counted(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t align) {
  return counted(size, static_cast<std::size_t>(align));
}
void* operator new[](std::size_t size, std::align_val_t align) {
  return counted(size, static_cast<std::size_t>(align));
}
// What std::stable_sort takes its room from. The address sanitizer asks for all forms or none.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return tried(size, alignof(std::max_align_t));
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return tried(size, alignof(std::max_align_t));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { std::free(p); }
