// What a product does with its result.
#pragma once

namespace kalmia::lanes {

/// C = X, C += X or C -= X.
enum class Put { Set, Add, Sub };

}  // namespace kalmia::lanes
