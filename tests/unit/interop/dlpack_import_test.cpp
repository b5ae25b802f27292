// SPDX-License-Identifier: BSL-1.0
// Imports of tensors that another library exported by DLPack. Each export is released once, even if
// it is malformed.
#include <byre/interop/dlpack.hpp>
#include <byre/tensor/elements.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/complaint.hpp"
#include "support/failing_allocator.hpp"
#include "support/tensor/fake_device.hpp"

namespace byre::test {
namespace {

using dlpack::DLManagedTensor;
using dlpack::DLManagedTensorVersioned;
using dlpack::DLTensor;

constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();

/// Another library's tensor of 1, 2, ... 6 as f32, which counts its releases.
template <class Managed>
struct Foreign {
  Foreign() {
    managed.dl_tensor = {.data = values,
                         .device = {dlpack::kDLCPU, 0},
                         .ndim = 2,
                         .dtype = {dlpack::kDLFloat, 32, 1},
                         .shape = shape,
                         .strides = strides,
                         .byte_offset = 0};
    managed.manager_ctx = this;
    managed.deleter = [](Managed* self) { ++static_cast<Foreign*>(self->manager_ctx)->released; };
    if constexpr (requires { managed.version; }) {
      managed.version = {1, 0};
      managed.flags = 0;
    }
  }

  DLTensor& seen() { return managed.dl_tensor; }

  alignas(8) float values[6] = {1, 2, 3, 4, 5, 6};
  std::int64_t shape[2] = {2, 3};
  std::int64_t strides[2] = {3, 1};
  int released = 0;
  Managed managed{};
};
using ForeignVersioned = Foreign<DLManagedTensorVersioned>;
using ForeignOlder = Foreign<DLManagedTensor>;

TEST(DLPackImport, an_import_is_written_in_place_and_released_once) {
  ForeignOlder foreign;
  {
    Tensor tensor = from_dlpack(&foreign.managed);
    EXPECT_EQ(tensor.sizes(), (Dims{2, 3}));
    EXPECT_EQ(tensor.dtype(), DType::f32);
    EXPECT_EQ(tensor.at<float>({1, 2}), 6);
    EXPECT_EQ(tensor.raw_data(), foreign.values);
    add_(tensor, 1);
    EXPECT_EQ(foreign.values[5], 7);
    EXPECT_EQ(foreign.released, 0);
  }
  EXPECT_EQ(foreign.released, 1);
}

TEST(DLPackImport, flags_and_mode_decide_whether_clones_share_and_writes_copy) {
  using enum DLPackImport;
  constexpr std::uint64_t read_only = dlpack::DLPACK_FLAG_BITMASK_READ_ONLY;
  constexpr std::uint64_t is_copied = dlpack::DLPACK_FLAG_BITMASK_IS_COPIED;
  struct Case {
    std::uint64_t flags;
    DLPackImport how;
    bool is_shared;
    bool is_in_place;  // whether a write is in place while a clone exists
    Origin origin;
  };
  for (const Case& each : {Case{0, aliased, false, true, Origin::aliased},
                           Case{read_only, aliased, false, false, Origin::aliased},
                           Case{is_copied, aliased, true, false, Origin::adopted},
                           Case{read_only | is_copied, aliased, true, false, Origin::adopted},
                           Case{0, exclusive, true, false, Origin::adopted}}) {
    SCOPED_TRACE(each.flags);
    ForeignVersioned foreign;
    foreign.managed.flags = each.flags;
    {
      Tensor tensor = from_dlpack(&foreign.managed, each.how);
      EXPECT_EQ(tensor.storage().origin(), each.origin);
      const Tensor clone = tensor.lazy_clone();
      EXPECT_EQ(clone.storage().shares_data_with(tensor.storage()), each.is_shared);
      add_(tensor, 1);
      EXPECT_EQ(tensor.at<float>({0, 0}), 2);
      EXPECT_EQ(clone.at<float>({0, 0}), 1);
      EXPECT_EQ(foreign.values[0], each.is_in_place ? 2 : 1);
      EXPECT_EQ(foreign.released, each.is_in_place || each.is_shared ? 0 : 1);
    }
    EXPECT_EQ(foreign.released, 1);
  }
}

TEST(DLPackImport, clones_share_an_exclusive_import_from_older_dlpack) {
  ForeignOlder older;
  const Tensor tensor = from_dlpack(&older.managed, DLPackImport::exclusive);
  EXPECT_TRUE(tensor.lazy_clone().storage().shares_data_with(tensor.storage()));
}

TEST(DLPackImport, strides_and_offset_are_imported) {
  ForeignVersioned foreign;
  foreign.seen().byte_offset = 4;
  foreign.shape[0] = 3;
  foreign.shape[1] = 2;
  foreign.strides[0] = 1;
  foreign.strides[1] = 2;
  const Tensor tensor = from_dlpack(&foreign.managed);
  EXPECT_EQ(tensor.strides(), (Dims{1, 2}));
  EXPECT_EQ(tensor.at<float>({0, 0}), 2);
  EXPECT_EQ(tensor.at<float>({2, 1}), 6);
  EXPECT_EQ(tensor.storage().nbytes(), 5 * sizeof(float));
}

TEST(DLPackImport, null_strides_mean_row_major_order) {
  ForeignOlder foreign;
  foreign.seen().strides = nullptr;
  EXPECT_EQ(from_dlpack(&foreign.managed).strides(), (Dims{3, 1}));
}

TEST(DLPackImport, strides_of_dimensions_of_size_1_are_ignored) {
  ForeignVersioned foreign;
  foreign.shape[0] = 1;
  for (const std::int64_t stride : std::initializer_list<std::int64_t>{-huge, -1, 0, 2, huge}) {
    foreign.strides[0] = stride;
    EXPECT_EQ(from_dlpack(&foreign.managed).strides(), (Dims{3, 1})) << stride;
  }
}

TEST(DLPackImport, offsets_may_exceed_32_bits) {
  if (sizeof(void*) < 8) {
    GTEST_SKIP() << "addresses have 32 bits";
  }
  ForeignVersioned foreign;
  constexpr std::uint64_t offset = std::uint64_t{1} << 33;
  foreign.seen().data = reinterpret_cast<void*>(
      static_cast<std::uintptr_t>(reinterpret_cast<std::uintptr_t>(foreign.values) - offset));
  foreign.seen().byte_offset = offset;
  EXPECT_EQ(from_dlpack(&foreign.managed).at<float>({1, 2}), 6);
}

TEST(DLPackImport, a_later_minor_version_is_accepted) {
  ForeignVersioned foreign;
  foreign.managed.version.minor = dlpack::version.minor + 1;
  EXPECT_EQ(from_dlpack(&foreign.managed).at<float>({1, 2}), 6);
  EXPECT_EQ(foreign.released, 1);
}

TEST(DLPackImport, an_export_without_dimensions_has_one_element) {
  ForeignVersioned foreign;
  foreign.seen().ndim = 0;
  foreign.seen().shape = nullptr;
  foreign.seen().strides = nullptr;
  EXPECT_EQ(from_dlpack(&foreign.managed).at<float>({}), 1);
}

TEST(DLPackImport, an_export_without_elements_is_released_by_the_import) {
  ForeignVersioned foreign;
  foreign.shape[0] = 0;
  foreign.strides[1] = -1;
  foreign.seen().data = nullptr;
  const Tensor tensor = from_dlpack(&foreign.managed);
  EXPECT_EQ(tensor.sizes(), (Dims{0, 3}));
  EXPECT_EQ(foreign.released, 1);
}

TEST(DLPackImport, a_null_deleter_is_not_called) {
  ForeignVersioned foreign;
  foreign.managed.deleter = nullptr;
  EXPECT_EQ(from_dlpack(&foreign.managed).at<float>({0, 0}), 1);
  EXPECT_EQ(foreign.released, 0);
}

TEST(DLPackImport, bools_are_checked_and_bytes_between_them_are_not) {
  ForeignVersioned foreign;
  auto* const bytes = reinterpret_cast<std::uint8_t*>(foreign.values);
  std::fill_n(bytes, sizeof foreign.values, std::uint8_t{77});
  std::int64_t shape[] = {2, 2, 2};
  std::int64_t strides[] = {8, 4, 1};
  for (const unsigned at : {0U, 1U, 4U, 5U, 8U, 9U, 12U, 13U}) {
    bytes[at] = at < 8 ? 1 : 0;
  }
  foreign.seen().ndim = 3;
  foreign.seen().shape = shape;
  foreign.seen().strides = strides;
  foreign.seen().dtype = {dlpack::kDLBool, 8, 1};
  EXPECT_TRUE(from_dlpack(&foreign.managed).at<bool>({0, 1, 1}));
  EXPECT_EQ(foreign.released, 1);
  bytes[9] = 2;
  const auto complaint = complaint_of<DTypeError>([&] { from_dlpack(&foreign.managed); });
  EXPECT_TRUE(says(complaint, "bool at [1, 0, 1] is the byte 2", "as u8"));
  EXPECT_EQ(foreign.released, 2);
}

template <class Expected>
std::string complaint_about(ForeignVersioned& foreign) {
  return complaint_of<Expected>([&] { from_dlpack(&foreign.managed); });
}

struct RefusedImport {
  void (*edit)(ForeignVersioned& foreign);
  std::string (*complaint)(ForeignVersioned& foreign);
  const char* said;
};

// clang-format off
const RefusedImport refused_imports[] = {
    // Before version 1, another field has the place of ndim. ndim is read only for version 1.
    {[](auto& foreign) { foreign.managed.version = {0, 8}; foreign.seen().ndim = 65; },
     complaint_about<InvalidArgument>, "DLPack version 0.8, required 1"},
    {[](auto& foreign) { foreign.managed.version = {2, 3}; foreign.seen().ndim = -7; },
     complaint_about<InvalidArgument>, "DLPack version 2.3, required 1"},
    {[](auto& foreign) { foreign.seen().dtype = {dlpack::kDLFloat, 16, 4}; },
     complaint_about<DTypeError>, "type code 2, 16 bits, 4 lanes. Export one of bool"},
    {[](auto& foreign) { foreign.seen().dtype = {dlpack::kDLFloat, 32, 0}; },
     complaint_about<DTypeError>, "type code 2, 32 bits, 0 lanes"},
    {[](auto& foreign) { foreign.seen().dtype = {dlpack::kDLUInt, 16, 1}; },
     complaint_about<DTypeError>, "type code 1, 16 bits"},
    {[](auto& foreign) { foreign.seen().device = {2, 5}; },
     complaint_about<DeviceError>, "DLPack device 2:5, but device 2:5 is not registered"},
    {[](auto& foreign) { foreign.seen().device = {0, 0}; }, complaint_about<DeviceError>,
     "unsupported device 0:0"},
    {[](auto& foreign) { foreign.seen().device = {65536, 0}; }, complaint_about<DeviceError>,
     "unsupported device 65536:0"},
    {[](auto& foreign) { foreign.seen().device = {2, -1}; }, complaint_about<DeviceError>,
     "unsupported device 2:-1"},
    {[](auto& foreign) { foreign.seen().device = {2, 65536}; }, complaint_about<DeviceError>,
     "unsupported device 2:65536"},
    {[](auto& foreign) { foreign.seen().ndim = -1; }, complaint_about<ShapeError>, "ndim is -1"},
    {[](auto& foreign) { foreign.seen().shape = nullptr; }, complaint_about<ShapeError>,
     "ndim is 2 and shape is null"},
    {[](auto& foreign) { foreign.seen().ndim = 65; }, complaint_about<ShapeError>, "65"},
    {[](auto& foreign) { foreign.shape[0] = -2; }, complaint_about<ShapeError>, "-2"},
    {[](auto& foreign) { foreign.strides[1] = -1; },
     complaint_about<ShapeError>, "stride of dimension 1 is -1, required at least 0"},
    {[](auto& foreign) { foreign.shape[0] = foreign.shape[1] = std::int64_t{1} << 40; },
     complaint_about<ShapeError>, ""},
    {[](auto& foreign) { foreign.strides[0] = huge; },
     complaint_about<ShapeError>,
     "in elements of 4 bytes, exceed the largest object. Make the tensor"},
    {[](auto& foreign) {
       foreign.shape[0] = foreign.shape[1] = 2;
       foreign.strides[0] = foreign.strides[1] = (huge >> 2) / 2;
     }, complaint_about<ShapeError>, "exceed the largest object"},
    {[](auto& foreign) { foreign.seen().data = nullptr; },
     complaint_about<InvalidArgument>, "data pointer for 24 bytes is null"},
    {[](auto& foreign) { foreign.seen().byte_offset = 2; },
     complaint_about<InvalidArgument>, "more than a multiple of 4"},
};
// clang-format on

TEST(DLPackImport, malformed_exports_are_rejected_and_released_once) {
  for (const RefusedImport& each : refused_imports) {
    ForeignVersioned foreign;
    each.edit(foreign);
    EXPECT_TRUE(says(each.complaint(foreign), "from_dlpack", each.said));
    EXPECT_EQ(foreign.released, 1) << each.said;
  }
}

TEST(DLPackImport, null_is_rejected) {
  EXPECT_TRUE(says(
      complaint_of<InvalidArgument>([] { from_dlpack(static_cast<DLManagedTensor*>(nullptr)); }),
      "from_dlpack: the argument is null"));
  EXPECT_THROW(from_dlpack(static_cast<DLManagedTensorVersioned*>(nullptr)), InvalidArgument);
}

TEST(DLPackImport, bools_on_a_device_are_not_checked) {
  const Tensor there = Tensor::of<bool>({2}, {true, false}).to(FakeDevice::first().device());
  EXPECT_EQ(from_dlpack(to_dlpack(there)).dtype(), DType::boolean);
}

TEST(DLPackImport, an_import_on_a_device_uses_that_devices_allocator) {
  FakeDevice& fake = FakeDevice::first();
  const Tensor there = Tensor::of<float>({2}, {1, 2}).to(fake.device());
  dlpack::DLManagedTensorVersioned* const managed = to_dlpack(there);
  const Tensor back = from_dlpack(managed);
  EXPECT_EQ(&back.storage().allocator(), &fake.allocator());

  ForeignVersioned foreign;
  foreign.seen().device = dlpack_device(fake.device());
  EXPECT_EQ(&from_dlpack(&foreign.managed).storage().allocator(), &fake.allocator());
}

}  // namespace
}  // namespace byre::test
