// SPDX-License-Identifier: BSL-1.0
// Prints the tables of core as JSON, for the proofs: each step with its order, each number, and every mutant
// of them.
#include <iostream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "../relacy/mutation.hpp"

namespace {

using namespace byre;
using namespace byre::verification;
using Json = nlohmann::ordered_json;

Json tables() {
  Json sites = Json::object();
  for (const auto& table : site_tables()) {
    for (const sync::Site& site : table) {
      sites[std::string(site.name)] = {{"operation", name_of(site.operation)},
                                       {"order", name_of(site.order)}};
    }
  }
  Json constants = Json::object();
  for (const auto& table : constant_tables()) {
    for (const sync::Constant& constant : table) {
      constants[std::string(constant.name)] = constant.value;
    }
  }
  Json mutants = Json::array();
  for (const Mutation& mutation : all_mutations()) {
    mutants.push_back(mutation.name());
  }
  return {{"sites", sites},
          {"constants", constants},
          {"mutants", mutants},
          {"max_count", sync::max_count}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    const bool asks_for_help = std::string_view(argv[1]) == "--help";
    (asks_for_help ? std::cout : std::cerr)
        << "usage: protocol_tables\n"
           "Prints the steps, the numbers and the mutants of core's protocols as JSON.\n";
    return asks_for_help ? 0 : 2;
  }
  std::cout << tables().dump(2) << '\n';
}
