// SPDX-License-Identifier: BSL-1.0
// Tests every cell of the table in docs/tensor-states.md: each operation, run in each reachable
// state, must have the documented effect. The macro BYRE_TENSOR_STATES is the path of the document.
#include "states.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "support/complaint.hpp"

namespace byre::test {
namespace {

/// The name of a state, and the properties that define the state.
struct Properties {
  std::string name;
  bool has_dtype;
  bool has_memory;  ///< is storage-initialized
  bool is_shared;
  bool has_elements;

  bool is_as(const Properties& other) const {
    return has_dtype == other.has_dtype && has_memory == other.has_memory &&
           is_shared == other.is_shared && has_elements == other.has_elements;
  }
};

/// The reachable states, in the order of the table's columns.
const std::array<Properties, 7> states{{
    {"fresh", false, true, false, false},
    {"sized", false, false, false, true},
    {"freed", true, false, false, true},
    {"full", true, true, false, true},
    {"full, shared", true, true, true, true},
    {"empty", true, true, false, false},
    {"empty, shared", true, true, true, false},
}};

/// The cells of each line of the table in the document.
std::vector<std::vector<std::string>> documented() {
  std::vector<std::vector<std::string>> lines;
  std::ifstream document(BYRE_TENSOR_STATES);
  for (std::string line; std::getline(document, line);) {
    if (line.starts_with("| operation |") || (!lines.empty() && line.starts_with("| "))) {
      std::vector<std::string>& cells = lines.emplace_back();
      for (std::size_t at = 2, end = 0; (end = line.find(" |", at)) != line.npos; at = end + 3) {
        cells.push_back(line.substr(at, end - at));
      }
    }
  }
  return lines;
}

struct Cell {
  const Row* row;
  const Operation* operation;
  Arrangement arrangement;
  const Properties* state;
  std::string expected;
};

std::vector<Cell> cells() {
  std::vector<Cell> all;
  const auto table = documented();
  for (std::size_t line = 1; line < table.size() && line <= state_rows().size(); ++line) {
    const Row& row = state_rows()[line - 1];
    for (const Operation& operation : row.operations) {
      for (const Arrangement arrangement : row.arrangements) {
        for (std::size_t state = 0; state < states.size(); ++state) {
          all.push_back({&row, &operation, arrangement, &states[state], table[line].at(state + 1)});
        }
      }
    }
  }
  return all;
}

std::string name_of_cell(const ::testing::TestParamInfo<Cell>& info) {
  std::string name = std::string(info.param.operation->name) + "_when_";
  for (const char character : info.param.state->name) {
    name += character == ' ' ? "_" : character == ',' ? "" : std::string(1, character);
  }
  constexpr std::array arrangements{"", "", "_transposed", "_sliced", "_expanded"};
  return name + arrangements[static_cast<std::size_t>(info.param.arrangement)];
}

TEST(TensorStatesDocument, lists_all_states_and_operations) {
  const auto table = documented();
  ASSERT_EQ(table.size(), state_rows().size() + 1);
  for (std::size_t state = 0; state < states.size(); ++state) {
    EXPECT_EQ(table[0].at(state + 1), states[state].name);
  }
  for (std::size_t number = 0; number < state_rows().size(); ++number) {
    const Row& row = state_rows()[number];
    const std::string& title = table[number + 1].front();
    EXPECT_TRUE(title == row.title || title.starts_with(row.title + ": ")) << title;
    const bool are_listed = row.operations.size() >= 5;
    for (std::string named; const Operation& operation : row.operations) {
      const std::string name = operation.name;
      const bool is_variant = !named.empty() && name.starts_with(named + "_");
      named = is_variant ? named : name;
      EXPECT_TRUE(!are_listed || is_variant || says(title, "`" + name + "`")) << title;
    }
  }
}

Tensor counting(DType dtype) {
  Tensor tensor = Tensor::zeros({2, 2}, dtype);
  const float values[] = {1, 2, 3, 4};
  std::memcpy(tensor.mutable_raw_data(), values, sizeof values);
  return tensor;
}

/// A tensor of sizes [2, 2] whose first element is 1.
Tensor arranged(Arrangement arrangement, DType dtype) {
  switch (arrangement) {
    case Arrangement::transposed:
      return counting(dtype).t();
    case Arrangement::sliced:
      return Tensor::of<float>({4, 2}, {1, 2, 0, 0, 3, 4, 0, 0}).slice(0, 0, 4, 2);
    case Arrangement::expanded:
      return Tensor::of<float>({1, 2}, {1, 2}).expand({2, 2});
    default:
      return counting(dtype);
  }
}

struct Subject {
  Tensor tensor;
  Tensor other;  ///< shares the storage of `tensor`; an empty handle in unshared states
};

Subject make(const Cell& cell) {
  const Properties& wanted = *cell.state;
  Subject subject;
  if (!wanted.has_dtype) {
    subject.tensor = Tensor(Device::cpu()).resize({wanted.has_elements ? 2 : 0, 2});
    return subject;
  }
  subject.tensor = wanted.has_elements ? arranged(cell.arrangement, cell.row->dtype)
                                       : Tensor::empty({0, 2}, cell.row->dtype);
  if (!wanted.has_memory) {
    subject.tensor.free_memory();
  } else if (cell.arrangement == Arrangement::reserved) {
    subject.tensor.reserve({8, 2});
  }
  if (wanted.is_shared) {
    subject.other = subject.tensor.alias();
  }
  return subject;
}

/// The name of the tensor's state; empty if its properties match no state.
std::string state_of(const Tensor& tensor) {
  const Properties found{"", tensor.is_dtype_initialized(), tensor.is_storage_initialized(),
                         tensor.storage().handle_count() > 1, tensor.numel() != 0};
  for (const Properties& known : states) {
    if (known.is_as(found)) {
      return known.name;
    }
  }
  return "";
}

/// All observable properties of a tensor. A snapshot retains no handle to the storage, because
/// another handle would make the storage shared.
struct Snapshot {
  explicit Snapshot(const Tensor& tensor)
      : layout(tensor.layout()),
        dtype(tensor.dtype()),
        data(tensor.storage().data()),
        storage_handles(tensor.storage().handle_count()),
        handles(tensor.handle_count()),
        bytes(data, data + tensor.storage().nbytes()) {}
  Layout layout;
  DType dtype;
  const std::byte* data;
  std::uint32_t storage_handles;
  std::uint32_t handles;
  std::vector<std::byte> bytes;
};

void expect_unchanged(const Snapshot& before, const Tensor& tensor) {
  const Snapshot now(tensor);
  EXPECT_EQ(now.layout, before.layout);
  EXPECT_EQ(now.dtype, before.dtype);
  EXPECT_EQ(now.data, before.data);
  EXPECT_EQ(now.handles, before.handles);
  EXPECT_TRUE(now.bytes == before.bytes);
}

double first_element(const Tensor& tensor) {
  const Tensor on_host = tensor.to(Device::cpu());
  if (tensor.dtype() == DType::f64) {
    return *on_host.data<double>();
  }
  return static_cast<double>(*on_host.data<float>());
}

struct Refusal {
  const char* cell;
  std::string (*complaint)(const std::function<void()>& run);
  std::array<const char*, 2> words;
};

template <class Expected>
std::string complaint(const std::function<void()>& run) {
  return complaint_of<Expected>(run);
}

const std::array refusals{
    Refusal{"`StateError`: no dtype", complaint<StateError>, {"dtype-un", "Call realize(dtype)"}},
    Refusal{"`StateError`: no memory", complaint<StateError>, {"storage-un", "mutable_data<T>()"}},
    Refusal{"`StateError`: shared", complaint<StateError>, {"is shared", "clone()"}},
    Refusal{"`DTypeError`", complaint<DTypeError>, {"is of f32, requested is f64", "copy_"}},
    Refusal{"`ShapeError`: not contiguous", complaint<ShapeError>, {"contiguous", "[2, 2]"}},
    Refusal{"`ShapeError`", complaint<ShapeError>, {"index 0 is out of range", ""}}};

class TensorStates : public ::testing::TestWithParam<Cell> {
 protected:
  const Cell& cell_ = GetParam();
  const std::string expected_ = cell_.expected;
  Subject subject_ = make(cell_);
  Tensor& tensor_ = subject_.tensor;
  const Snapshot before_{tensor_};

  /// Returns false if the document does not specify an error for this cell.
  bool expect_refusal() {
    for (const Refusal& refusal : refusals) {
      if (expected_ == refusal.cell) {
        const std::string text = refusal.complaint([this] { cell_.operation->run(tensor_); });
        EXPECT_TRUE(says(text, refusal.words[0], refusal.words[1]));
        expect_unchanged(before_, tensor_);
        EXPECT_EQ(Snapshot(tensor_).storage_handles, before_.storage_handles);
        return true;
      }
    }
    return false;
  }

  void expect_result() {
    const Returned returned = cell_.operation->run(tensor_);
    if (expected_ == "view") {
      expect_views(returned.tensors);
    } else if (expected_ == "copy") {
      expect_copy(returned.tensors.at(0));
    } else if (expected_ == "new") {
      EXPECT_FALSE(returned.tensors.at(0).aliases(tensor_));
      EXPECT_TRUE(returned.tensors.at(0).is_storage_initialized());
    } else if (expected_ == "reads") {
      EXPECT_EQ(returned.read, tensor_.numel() == 0 ? 0.0 : 1.0);
    } else if (expected_ == "writes") {
      EXPECT_EQ(tensor_.layout(), before_.layout);
      EXPECT_EQ(tensor_.storage().data(), before_.data);
      EXPECT_EQ(returned.wrote.has_value(), tensor_.numel() != 0);
    } else if (expected_ != "as it was") {
      return expect_state(returned.wrote);
    }
    if (expected_ != "writes") {
      expect_unchanged(before_, tensor_);
    } else if (returned.wrote) {
      EXPECT_EQ(first_element(tensor_), *returned.wrote);
    }
  }

  void expect_views(const std::vector<Tensor>& views) {
    ASSERT_FALSE(views.empty());
    for (const Tensor& view : views) {
      EXPECT_EQ(view.storage(), tensor_.storage());
      EXPECT_EQ(view.aliases(tensor_), tensor_.is_dtype_initialized());
      EXPECT_EQ(view.handle_count(), 1U);
    }
  }

  void expect_copy(Tensor copy) {
    EXPECT_FALSE(copy.aliases(tensor_));
    EXPECT_EQ(copy.numel(), tensor_.numel());
    if (tensor_.numel() != 0) {
      EXPECT_EQ(first_element(copy), 1.0);
      if (copy.device().is_cpu()) {
        copy.set_at<float>(copy.ndim() == 1 ? At{0} : At{0, 0}, 7);
      }
    }
  }

  void expect_state(const std::optional<double>& wrote) {
    const bool is_anew = expected_ == "→ full, anew";
    EXPECT_EQ("→ " + state_of(tensor_), is_anew ? "→ full" : expected_);
    const bool has_kept = cell_.state->has_memory && !is_anew && !wrote &&
                          std::string(cell_.operation->name) != "share_data_target";
    if (has_kept && tensor_.numel() != 0 && tensor_.is_storage_initialized() &&
        cell_.state->has_elements) {
      EXPECT_EQ(first_element(tensor_), 1.0) << "elements that fit must be preserved";
    } else if (wrote) {
      EXPECT_EQ(first_element(tensor_), *wrote);
    }
  }

 private:
  using At = std::initializer_list<std::int64_t>;
};

TEST_P(TensorStates, an_operation_has_the_documented_effect) {
  if (expected_ == "-") {
    return;  // the case does not exist
  }
  ASSERT_EQ(state_of(tensor_), cell_.state->name) << "the initial state";
  const Tensor& other = subject_.other;
  const Layout others_layout = other ? other.layout() : Layout();
  if (!expect_refusal()) {
    expect_result();
  }
  EXPECT_NE(state_of(tensor_), "") << "an undocumented state";
  if (other) {
    EXPECT_EQ(other.layout(), others_layout);
    EXPECT_TRUE(other.is_storage_initialized());
    const bool sees_a_write = expected_ == "writes" && other.numel() != 0;
    EXPECT_EQ(Snapshot(other).bytes != before_.bytes, sees_a_write);
  }
}

INSTANTIATE_TEST_SUITE_P(table, TensorStates, ::testing::ValuesIn(cells()), name_of_cell);

}  // namespace
}  // namespace byre::test
