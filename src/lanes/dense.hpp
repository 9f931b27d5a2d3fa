// Dense products of one matrix with a panel: what the networks are made of.
//
// A weight matrix is packed once per optimiser step into row tiles that fit the registers: tile by
// tile, then by column k, then the tile's rows. The product then reads its weights as one stream.
#pragma once

#include <algorithm>
#include <cstddef>

#include "base/buffer.hpp"

namespace kalmia::lanes {

/// How many rows of the result a register tile holds; depends on the instruction set.
struct TileShape {
  int rows;   ///< rows of a packed tile
  int units;  ///< hidden units of a GRU tile (three gates each)
};

/// Tile shape of the instruction set in use, for products in T.
template <typename T>
TileShape tile_shape();
template <>
TileShape tile_shape<float>();
template <>
TileShape tile_shape<double>();

/// Rows of tile `tile` when `rows` rows are split as evenly as possible into tiles of at most
/// `most` rows: no tile is left with so few rows that its arithmetic cannot fill the pipeline.
struct EvenSplit {
  int tiles;
  int base;   ///< rows of a tile ...
  int extra;  ///< ... and the first `extra` tiles have one more
  constexpr EvenSplit(int rows, int most)
      : tiles((rows + most - 1) / most),
        base(tiles == 0 ? 0 : rows / tiles),
        extra(tiles == 0 ? 0 : rows % tiles) {}
  constexpr int size(int tile) const { return base + (tile < extra ? 1 : 0); }
  constexpr int begin(int tile) const { return tile * base + std::min(tile, extra); }
};

/// A rows x cols matrix packed into row tiles.
template <typename T>
struct PackedMatrix {
  int rows = 0;
  int cols = 0;
  int tile_rows = 0;
  Buffer<T> data;

  /// Packs W (row-major, `rows` x `cols`), or its transpose if `transposed` (then W is
  /// `cols` x `rows`). Allocates on the first call only.
  void pack(const T* W, int rows, int cols, bool transposed);
};

}  // namespace kalmia::lanes
