// SPDX-License-Identifier: BSL-1.0
/// Errors of the programs. Their texts are complete sentences for the user.
#pragma once

#include <stdexcept>

namespace examples {

/// An operation failed: exit status 1.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The command line is invalid: exit status 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// If the program received SIGINT, SIGTERM or SIGHUP, throws an exception that ends the program
/// with exit status 128 + signal. Long loops call it, so that temporary files are removed.
void throw_if_interrupted();

}  // namespace examples
