// The smallest program on top of an installed Kalmia: it says which version it was built with.
#include <iostream>
#include <kalmia/error.hpp>
#include <kalmia/version.hpp>

int main() {
  try {
    throw kalmia::DataError("row 3: 2 values, the header names 3");
  } catch (const kalmia::Error& error) {
    std::cout << "kalmia " << kalmia::kVersionText << ", caught: " << error.what() << "\n";
  }
}
