// SPDX-License-Identifier: BSL-1.0
#include "check.hpp"

#include <cstring>

namespace examples::weights_overlay {
namespace {

bool are_same_bits(const std::vector<float>& left, const std::vector<float>& right) {
  return left.size() == right.size() &&
         std::memcmp(left.data(), right.data(), left.size() * sizeof(float)) == 0;
}

/// What a request copies that does so by whole layers.
std::size_t nbytes_of_layers(Copying copying, const Plan& plan) {
  const std::size_t changed = plan.rows == 0 ? 0 : plan.changed;
  return plan.layer_nbytes() * (copying == Copying::model ? plan.layers : changed);
}

/// What is wrong with one request, as the end of a sentence.
std::vector<std::string> check(const Accounts& accounts, Copying copying, const Plan& plan) {
  std::vector<std::string> faults;
  if (!accounts.differs_where_changed) {
    faults.push_back("the rows that differ from the model's are not those that were changed.");
  }
  const std::size_t expected =
      copying == Copying::pages ? accounts.expected_own_nbytes : nbytes_of_layers(copying, plan);
  if (accounts.own_nbytes.value_or(expected) != expected) {
    faults.push_back(std::to_string(*accounts.own_nbytes) + " bytes were copied, not " +
                     std::to_string(expected) + ".");
  }
  return faults;
}

}  // namespace

std::vector<std::string> check(const std::vector<RunResult>& runs, const Plan& plan) {
  std::vector<std::string> faults;
  for (const RunResult& run : runs) {
    for (std::size_t number = 0; number < run.accounts.size(); ++number) {
      const bool is_branch = number >= plan.requests;
      const std::string who = std::string(to_string(run.copying)) +
                              (is_branch ? ", branch " : ", request ") +
                              std::to_string(is_branch ? number - plan.requests : number) + ": ";
      for (const std::string& fault : check(run.accounts[number], run.copying, plan)) {
        faults.push_back(who + fault);
      }
      if (!are_same_bits(run.outputs[number], runs.front().outputs[number])) {
        faults.push_back(who + "its output is not that over " + to_string(runs.front().copying) +
                         ".");
      }
    }
  }
  return faults;
}

}  // namespace examples::weights_overlay
