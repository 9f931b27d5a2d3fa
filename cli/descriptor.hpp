/// \file
/// Calls of the system that have to be made again.
#pragma once

namespace kalmia::cli {

/// Whether a `read` or `write` of `descriptor` that has just failed (errno says how) is to be made
/// again. It is after a signal. It is also where the descriptor was opened not to block, as pipes
/// from other programs may be: then this waits until there is something for `events` (POLLIN,
/// POLLOUT). errno is as it was.
bool try_again(int descriptor, short events);

}  // namespace kalmia::cli
