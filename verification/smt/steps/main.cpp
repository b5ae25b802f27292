// SPDX-License-Identifier: BSL-1.0
#include <iostream>
#include <string_view>

#include "steps.hpp"

int main(int argc, char** argv) {
  using namespace byre::verification;
  const bool drop_waits = argc == 2 && std::string_view(argv[1]) == "--drop-waits";
  if (argc > 1 && !drop_waits) {
    std::cerr << "usage: protocol_steps [--drop-waits]\n"
                 "Prints what each operation of core's protocols does from each small state; or "
                 "fails, as a "
                 "share word\nwhose drop waits for copies has to.\n";
    return 2;
  }
  const unsigned unreached = print_share_word_steps(drop_waits) + print_ref_count_steps() +
                             print_parking_lot_steps() + print_lock_table_steps();
  return unreached == 0 ? 0 : 1;
}
