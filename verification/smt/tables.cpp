// SPDX-License-Identifier: BSL-1.0
// Prints the tables of core as JSON, for the proofs: each step with its order, each number, every mutant
// of them, and those that are argued to change nothing.
#include <iostream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "../mutants/equivalents.hpp"
#include "../relacy/mutation.hpp"

namespace byre::verification {
namespace {

using Json = nlohmann::ordered_json;

std::string_view name_of(sync::Operation operation) {
  using enum sync::Operation;
  switch (operation) {
    case load:
      return "load";
    case store:
      return "store";
    case fetch_add:
      return "fetch_add";
    case fetch_sub:
      return "fetch_sub";
    case compare_exchange:
      return "compare_exchange";
    case lock:
      return "lock";
    case unlock:
      return "unlock";
    case park:
      return "park";
    case unpark:
      return "unpark";
  }
  return "?";
}

std::string_view name_of(std::memory_order order) {
  switch (order) {
    case std::memory_order::relaxed:
      return "relaxed";
    case std::memory_order::consume:
      return "consume";
    case std::memory_order::acquire:
      return "acquire";
    case std::memory_order::release:
      return "release";
    case std::memory_order::acq_rel:
      return "acq_rel";
    case std::memory_order::seq_cst:
      return "seq_cst";
  }
  return "?";
}

std::string_view name_of(Change change) {
  switch (change) {
    case Change::none:
      return "none";
    case Change::weaker:
      return "weaker";
    case Change::plain:
      return "plain";
    case Change::left_out:
      return "left-out";
    case Change::plus_one:
      return "plus-one";
    case Change::minus_one:
      return "minus-one";
    case Change::zero:
      return "zero";
    case Change::after:
      return "after";
  }
  return "?";
}

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
    mutants.push_back(
        {{"name", mutation.name()},
         {"row", mutation.site != nullptr ? mutation.site->name : mutation.constant->name},
         {"change", name_of(mutation.change)},
         {"order", name_of(mutation.order)}});
  }
  Json arguments = Json::object();
  for (const Equivalent& equivalent : equivalents) {
    arguments[std::string(equivalent.mutant)] = equivalent.because;
  }
  return {{"sites", sites},
          {"constants", constants},
          {"mutants", mutants},
          {"equivalents", arguments},
          {"max_count", sync::max_count}};
}

}  // namespace
}  // namespace byre::verification

int main(int argc, char** argv) {
  if (argc > 1) {
    const bool asks_for_help = std::string_view(argv[1]) == "--help";
    (asks_for_help ? std::cout : std::cerr)
        << "usage: protocol_tables\n"
           "Prints the steps, the numbers and the mutants of core's protocols as JSON.\n";
    return asks_for_help ? 0 : 2;
  }
  std::cout << byre::verification::tables().dump(2) << '\n';
}
