// SPDX-License-Identifier: BSL-1.0
// Every cell of the table of states: each operation, run in each state a tensor can be in.
#include "states.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "support/complaint.hpp"

namespace byre::test {
namespace {

struct Cell {
  const Row* row;
  const Operation* operation;
  Arrangement arrangement;
  State state;

  std::string expected() const { return row->cells[static_cast<std::size_t>(state)]; }
};

std::vector<Cell> cells() {
  std::vector<Cell> all;
  for (const Row& row : rows()) {
    for (const Operation& operation : row.operations) {
      for (const Arrangement arrangement : row.arrangements) {
        for (std::size_t state = 0; state < state_count; ++state) {
          all.push_back({&row, &operation, arrangement, static_cast<State>(state)});
        }
      }
    }
  }
  return all;
}

std::string name_of_cell(const ::testing::TestParamInfo<Cell>& info) {
  std::string name = std::string(info.param.operation->name) + "_when_";
  for (const char character : std::string(properties_of(info.param.state).name)) {
    name += character == ' ' ? "_" : character == ',' ? "" : std::string(1, character);
  }
  const std::string arrangement =
      names_of_arrangements[static_cast<std::size_t>(info.param.arrangement)];
  return arrangement.empty() ? name : name + "_" + arrangement;
}

Tensor counting(DType dtype) {
  Tensor tensor = Tensor::zeros({2, 2}, dtype);
  const float values[] = {1, 2, 3, 4};
  std::memcpy(tensor.mutable_raw_data(), values, sizeof values);
  return tensor;
}

/// Each has the element 1 first, and the sizes [2, 2].
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

Subject make(const Cell& cell) {
  const Properties& wanted = properties_of(cell.state);
  const Row& row = *cell.row;
  Subject subject;
  if (!wanted.has_dtype) {
    subject.tensor = Tensor(Device::cpu()).resize({wanted.has_elements ? 2 : 0, 2});
    return subject;
  }
  subject.tensor = wanted.has_elements ? arranged(cell.arrangement, row.dtype)
                                       : Tensor::empty({0, 2}, row.dtype);
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

/// Empty if the tensor is in none of the states.
std::string state_of(const Tensor& tensor) {
  const Properties found{"", tensor.is_dtype_initialized(), tensor.is_storage_initialized(),
                         tensor.storage().handle_count() > 1, tensor.numel() != 0};
  for (const Properties& known : properties_of_states) {
    if (known == found) {
      return known.name;
    }
  }
  return "";
}

/// All there is to see of a tensor. Keeps no handle to its storage, which would be somebody who
/// shares it.
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

class TensorStates : public ::testing::TestWithParam<Cell> {
 protected:
  const Cell& cell_ = GetParam();
  const std::string expected_ = cell_.expected();
  Subject subject_ = make(cell_);
  Tensor& tensor_ = subject_.tensor;
  const Snapshot before_{tensor_};

  template <class Expected>
  void expect_refused(const std::vector<std::string>& said) {
    const std::string text = complaint_of<Expected>([this] { cell_.operation->run(tensor_); });
    for (const std::string& words : said) {
      EXPECT_TRUE(says(text, words));
    }
    expect_unchanged(before_, tensor_);
    EXPECT_EQ(Snapshot(tensor_).storage_handles, before_.storage_handles);
  }

  /// False if the table does not say that it is refused.
  bool expect_refusal() {
    if (expected_ == "no dtype") {
      expect_refused<StateError>({"dtype-uninitialized", "Call realize(dtype)"});
    } else if (expected_ == "no memory") {
      expect_refused<StateError>({"storage-uninitialized", "mutable_data<T>()"});
    } else if (expected_ == "shared") {
      expect_refused<StateError>({"is shared", "clone()"});
    } else if (expected_ == "dtype") {
      expect_refused<DTypeError>({"is of f32, and f64 was asked for", "copy_"});
    } else if (expected_ == "strided") {
      expect_refused<ShapeError>({"contiguous", "[2, 2]"});
    } else if (expected_ == "no element") {
      expect_refused<ShapeError>({"index 0 is out of range"});
    } else {
      return false;
    }
    return true;
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
      expect_unchanged(before_, tensor_);
    } else if (expected_ == "reads") {
      EXPECT_EQ(returned.read, tensor_.numel() == 0 ? 0.0 : 1.0);
      expect_unchanged(before_, tensor_);
    } else if (expected_ == "as it was") {
      expect_unchanged(before_, tensor_);
    } else if (expected_ == "writes") {
      EXPECT_EQ(tensor_.layout(), before_.layout);
      EXPECT_EQ(tensor_.storage().data(), before_.data);
      EXPECT_EQ(returned.wrote.has_value(), tensor_.numel() != 0);
    } else {
      expect_state(returned.wrote.has_value());
    }
    if (returned.wrote) {
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
    expect_unchanged(before_, tensor_);
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
    expect_unchanged(before_, tensor_);
  }

  void expect_state(bool wrote) {
    EXPECT_EQ(state_of(tensor_), expected_ == "anew" ? "full" : expected_);
    const bool has_kept = properties_of(cell_.state).has_memory && expected_ != "anew" && !wrote &&
                          std::string(cell_.operation->name) != "share_data_target";
    if (has_kept && tensor_.numel() != 0 && tensor_.is_storage_initialized() &&
        properties_of(cell_.state).has_elements) {
      EXPECT_EQ(first_element(tensor_), 1.0) << "elements that fit are kept";
    }
  }

 private:
  using At = std::initializer_list<std::int64_t>;
};

TEST_P(TensorStates, cell) {
  if (expected_ == "-") {
    return;  // means nothing in this state
  }
  ASSERT_EQ(state_of(tensor_), properties_of(cell_.state).name) << "the state to begin with";
  const Tensor& other = subject_.other;
  const Layout others_layout = other ? other.layout() : Layout();
  if (!expect_refusal()) {
    expect_result();
  }
  EXPECT_NE(state_of(tensor_), "") << "a state that cannot be reached";
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
