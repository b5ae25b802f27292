// SPDX-License-Identifier: BSL-1.0
#include <iostream>
#include <string_view>

#include "steps.hpp"

int main(int argc, char** argv) {
  using namespace byre::verification;
  if (argc > 1) {
    const bool asks_for_help = std::string_view(argv[1]) == "--help";
    (asks_for_help ? std::cout : std::cerr)
        << "usage: protocol_steps\n"
           "Prints what each operation of core's protocols does from each small state.\n";
    return asks_for_help ? 0 : 2;
  }
  const unsigned unreached =
      print_ref_count_steps() + print_pin_count_steps() + print_attachment_steps() +
      print_generation_steps() + print_write_records_steps() + print_counter_steps() +
      print_parking_lot_steps() + print_lock_table_steps() + print_share_lock_steps();
  return unreached == 0 ? 0 : 1;
}
