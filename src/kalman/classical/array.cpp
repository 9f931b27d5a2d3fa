// The memory of kalmia::Array.
#include <cstdlib>
#include <new>

#include "kalmia/classical.hpp"
#ifdef __linux__
#include <sys/mman.h>
#endif

namespace kalmia {
namespace {

constexpr std::size_t kLargePage = std::size_t{2} << 20;
constexpr std::size_t kCacheLine = 64;

double* allocate(std::size_t size) {
  if (size == 0) return nullptr;
  if (size > (std::size_t{1} << 60)) throw std::bad_alloc();
  const std::size_t wanted = size * sizeof(double);
  const std::size_t alignment = wanted >= 2 * kLargePage ? kLargePage : kCacheLine;
  const std::size_t bytes = (wanted + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, bytes);
  if (memory == nullptr) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  // Advice only: where it is refused the array works all the same.
  if (alignment == kLargePage) static_cast<void>(madvise(memory, bytes, MADV_HUGEPAGE));
#endif
  return static_cast<double*>(memory);
}

}  // namespace

void Array::Free::operator()(double* p) const { std::free(p); }

Array::Array(std::size_t size) : data_(allocate(size)), size_(size) {}

}  // namespace kalmia
