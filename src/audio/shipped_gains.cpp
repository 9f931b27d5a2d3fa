#include "audio/shipped_gains.hpp"

#include <string_view>

#include "audio/gain_file.hpp"

// The file as it is, between two names. KALMIA_SHIPPED_GAINS is its path when the library is built.
asm(R"(
  .pushsection .rodata
  .hidden kalmia_shipped_gains
  .hidden kalmia_shipped_gains_end
  .global kalmia_shipped_gains
  .global kalmia_shipped_gains_end
  .balign 16
kalmia_shipped_gains:
  .incbin ")" KALMIA_SHIPPED_GAINS R"("
kalmia_shipped_gains_end:
  .popsection
)");
extern "C" {
extern const char kalmia_shipped_gains[] __attribute__((visibility("hidden")));
extern const char kalmia_shipped_gains_end[] __attribute__((visibility("hidden")));
}

namespace kalmia::audio {

std::unique_ptr<GainModel> shipped_gains() {
  return parse_gain_file({kalmia_shipped_gains, kalmia_shipped_gains_end},
                         "the networks of this library");
}

}  // namespace kalmia::audio
