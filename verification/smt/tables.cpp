// SPDX-License-Identifier: BSL-1.0
// Prints the tables of core as JSON, for the proofs: each step with its order, each number, and
// every mutant.
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

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

int main() {
  std::cout << tables().dump(2) << '\n';
}
