#include "base/descriptor.hpp"

#include <poll.h>

#include <cerrno>

namespace kalmia {

bool try_again(int descriptor, short events) {
  const int error = errno;
  if (error != EINTR && error != EAGAIN && error != EWOULDBLOCK) return false;
  if (error != EINTR) {
    // Whatever ends the wait, an error of the descriptor too, shows at the next call.
    pollfd waiting{descriptor, events, 0};
    ::poll(&waiting, 1, -1);
  }
  errno = error;
  return true;
}

}  // namespace kalmia
