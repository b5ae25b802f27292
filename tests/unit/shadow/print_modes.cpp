// SPDX-License-Identifier: BSL-1.0
/// Prints the mode of reshape in force, or the complaint: by the environment alone, and again; with
/// a default of the process, within a scope, after the scope, and with no default any more.
#include <byre/error/error.hpp>
#include <byre/shadow/mode.hpp>

#include <cstdio>
#include <string>

namespace {

using namespace byre::shadow;

void print_mode() {
  try {
    std::puts(std::string(name_of(reshape_mode())).c_str());
  } catch (const byre::InvalidArgument& error) {
    std::puts(error.what());
  }
}

}  // namespace

int main() {
  print_mode();
  print_mode();
  set_default_reshape_mode(ReshapeMode::error);
  print_mode();
  {
    const ReshapeModeScope scope(ReshapeMode::alias);
    print_mode();
  }
  print_mode();
  set_default_reshape_mode(std::nullopt);
  print_mode();
}
