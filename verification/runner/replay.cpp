// SPDX-License-Identifier: BSL-1.0
#include "replay.hpp"

#include "execution_name.hpp"
#include "options.hpp"

namespace byre::verification {

Job parse_replay(const std::string& text) {
  Job job;
  try {
    const std::vector<std::string> parts = parts_of_replay_string(text);
    try {
      job.scenario = &find_scenario(parts[0]);
      job.mutation = find_mutation(parts[1]);
      job.search.bound = parse_bound(parts[2]);
    } catch (const UsageError& error) {
      throw UsageError("the replay string is not of this program: " + std::string(error.what()));
    }
    job.search.state = unpacked_state(parts[3]);
  } catch (const MalformedName& error) {
    throw UsageError(error.what());
  }
  job.search.most_executions = 1;
  job.is_replay = true;
  return job;
}

}  // namespace byre::verification
