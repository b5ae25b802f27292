// SPDX-License-Identifier: BSL-1.0
/// Errors of the programs. Texts are complete sentences for the user.
#pragma once

#include <stdexcept>

namespace examples {

/// Something did not work: exit code 1.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The command line asks for something impossible: exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws an exception that ends the program with code 128 + the signal, if the user pressed Ctrl-C or the system asked
/// the program to end. Long loops call it, so that temporary files are removed.
void throw_if_interrupted();

}  // namespace examples
