// SPDX-License-Identifier: BSL-1.0
/// Prints the mode of reshape in force, or the complaint: by the environment alone, and again; with
/// a default of the process, within a scope, after the scope, and with no default any more. As `early`
/// it prints whether it tracks, before and after it asks for the mode; as `early MODE` it sets that in
/// the environment in between. As `scope` or `default` it prints whether it tracks in a scope that
/// copies, or where that is the default of the process.
#include <byre/error/error.hpp>
#include <byre/shadow/mode.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace byre::shadow;

void print_mode() {
  try {
    std::puts(std::string(name_of(reshape_mode())).c_str());
  } catch (const byre::InvalidArgument& error) {
    std::puts(error.what());
  }
}

void print_whether_it_tracks() {
  std::puts(detail::is_tracking() ? "tracks" : "does not track");
  std::puts(detail::active_tracking.value() == 0 ? "no reason to" : "a reason to");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && argv[1] == std::string_view("scope")) {
    const ReshapeModeScope scope(ReshapeMode::copy);
    print_whether_it_tracks();
    return 0;
  }
  if (argc > 1 && argv[1] == std::string_view("default")) {
    set_default_reshape_mode(ReshapeMode::copy);
    print_whether_it_tracks();
    return 0;
  }
  if (argc > 1) {
    print_whether_it_tracks();
    if (argc > 2) {
      ::setenv("BYRE_RESHAPE", argv[2], 1);
    }
    print_mode();
    print_whether_it_tracks();
    return 0;
  }
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
