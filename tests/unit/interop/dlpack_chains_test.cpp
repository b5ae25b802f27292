// SPDX-License-Identifier: BSL-1.0
// An import of an export of byre reuses the exported storage, and chains of exchanges are released
// without recursion.
#include <byre/interop/dlpack.hpp>
#include <byre/tensor/elements.hpp>

#include <gtest/gtest.h>

#include <cstdint>

namespace byre::test {
namespace {

constexpr int long_chain = 50'000;

Tensor one_to_six() {
  return Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
}

TEST(OwnDLPackExport, an_import_of_an_export_for_reading_is_a_lazy_clone) {
  Tensor tensor = one_to_six();
  Tensor back = from_dlpack(to_dlpack(tensor.t().slice(0, 1)));
  EXPECT_TRUE(back.storage().shares_data_with(tensor.storage()));
  EXPECT_EQ(back.sizes(), (Dims{2, 2}));
  EXPECT_EQ(back.strides(), (Dims{1, 3}));
  EXPECT_EQ(back.at<float>({0, 1}), 5);
  EXPECT_TRUE(back.lazy_clone().storage().shares_data_with(tensor.storage()));
  fill_(back, 9);
  EXPECT_EQ(tensor.at<float>({0, 1}), 2);
  EXPECT_EQ(back.at<float>({0, 1}), 9);
}

TEST(OwnDLPackExport, an_import_of_an_export_for_writing_reuses_the_storage) {
  Tensor tensor = one_to_six();
  const Tensor clone = tensor.lazy_clone();
  Tensor back = from_dlpack(to_dlpack(tensor.select(0, 1), DLPackAccess::write));
  EXPECT_EQ(back.storage(), tensor.storage());
  EXPECT_FALSE(tensor.storage().is_pinned());
  fill_(back, 9);
  EXPECT_EQ(tensor.at<float>({1, 2}), 9);
  EXPECT_EQ(tensor.at<float>({0, 2}), 3);
  EXPECT_EQ(clone.at<float>({1, 2}), 6);
}

TEST(OwnDLPackExport, a_write_copies_if_another_library_set_the_read_only_flag) {
  const Tensor tensor = one_to_six();
  auto* const managed = to_dlpack(tensor, DLPackAccess::write);
  managed->flags |= dlpack::DLPACK_FLAG_BITMASK_READ_ONLY;
  Tensor back = from_dlpack(managed);
  fill_(back, 9);
  EXPECT_EQ(back.at<float>({0, 0}), 9);
  EXPECT_EQ(tensor.at<float>({0, 0}), 1);
}

TEST(OwnDLPackExport, an_import_of_an_older_dlpack_export_reuses_the_storage) {
  Tensor tensor = one_to_six();
  const Tensor back = from_dlpack(to_older_dlpack(tensor));
  EXPECT_EQ(back.storage(), tensor.storage());
  EXPECT_FALSE(tensor.storage().is_pinned());
}

TEST(OwnDLPackExport, an_import_of_an_exported_copy_has_a_new_storage) {
  const Tensor tensor = one_to_six();
  const Tensor back = from_dlpack(to_dlpack(tensor, DLPackAccess::copy));
  EXPECT_FALSE(back.storage().shares_data_with(tensor.storage()));
  EXPECT_EQ(back.storage().handle_count(), 1U);
  EXPECT_TRUE(back.lazy_clone().storage().shares_data_with(back.storage()));
}

TEST(OwnDLPackExport, an_import_does_not_release_pins_of_other_code) {
  Tensor tensor = one_to_six();
  Storage storage = tensor.storage();
  const Pin pin = storage.pin();
  const Tensor back = from_dlpack(to_dlpack(tensor, DLPackAccess::write));
  EXPECT_TRUE(back.storage().is_pinned());
  EXPECT_FALSE(back.lazy_clone().storage().shares_data_with(tensor.storage()));
}

TEST(OwnDLPackExport, an_import_for_reading_aliases_pinned_memory_until_written) {
  Tensor tensor = one_to_six();
  Storage storage = tensor.storage();
  const Pin pin = storage.pin();
  Tensor back = from_dlpack(to_dlpack(tensor));
  fill_(tensor, 7);
  EXPECT_EQ(back.at<float>({0, 0}), 7);
  fill_(back, 8);
  EXPECT_EQ(tensor.at<float>({0, 0}), 7);
}

TEST(OwnDLPackExport, clones_share_an_exclusive_import_of_aliased_memory) {
  alignas(64) const float theirs[2] = {1, 2};
  const Tensor aliased = Tensor::over(
      Storage(Buffer::adopt_aliased(theirs, sizeof theirs, [](void*) {})), {2}, DType::f32);
  const Tensor back = from_dlpack(to_dlpack(aliased));
  EXPECT_FALSE(back.lazy_clone().storage().shares_data_with(back.storage()));
  const Tensor exclusive = from_dlpack(to_dlpack(aliased), DLPackImport::exclusive);
  EXPECT_TRUE(exclusive.lazy_clone().storage().shares_data_with(exclusive.storage()));
}

TEST(OwnDLPackExport, an_export_whose_address_was_changed_is_imported_as_aliased) {
  alignas(64) float other[6] = {6, 5, 4, 3, 2, 1};
  Tensor tensor = one_to_six();
  auto* const managed = to_dlpack(tensor, DLPackAccess::write);
  managed->dl_tensor.data = other;
  const Tensor back = from_dlpack(managed);
  EXPECT_EQ(back.at<float>({0, 0}), 6);
  EXPECT_TRUE(tensor.storage().is_pinned());
}

TEST(OwnDLPackExport, an_export_that_exceeds_its_storage_is_imported_as_aliased) {
  alignas(64) float theirs[6] = {1, 2, 3, 4, 5, 6};
  const Tensor tensor = Tensor::over(
      Storage(Buffer::adopt(theirs, 3 * sizeof(float), [](void*) {})), {1, 3}, DType::f32);
  auto* const managed = to_dlpack(tensor, DLPackAccess::write);
  managed->dl_tensor.shape[0] = 2;
  const Tensor back = from_dlpack(managed);
  EXPECT_EQ(back.raw_data(), theirs);
  EXPECT_EQ(back.at<float>({1, 2}), 6);
}

TEST(OwnDLPackExport, floats_misaligned_in_their_storage_are_imported_as_aliased) {
  alignas(64) float theirs[2] = {1, 2};
  auto* const bytes = reinterpret_cast<std::uint8_t*>(theirs);
  const Tensor tensor =
      Tensor::over(Storage(Buffer::adopt(bytes + 1, 7, [](void*) {})), {7}, DType::u8);
  auto* const managed = to_dlpack(tensor, DLPackAccess::write);
  managed->dl_tensor.data = theirs + 1;
  managed->dl_tensor.dtype = dlpack_dtype(DType::f32);
  managed->dl_tensor.shape[0] = 1;
  const Tensor back = from_dlpack(managed);
  EXPECT_EQ(back.raw_data(), theirs + 1);
  EXPECT_EQ(back.at<float>({0}), 2);
}

TEST(OwnDLPackExport, after_many_exports_and_imports_the_storage_is_unique) {
  for (const auto access : {DLPackAccess::read, DLPackAccess::write, DLPackAccess::copy}) {
    Tensor tensor = one_to_six();
    for (int link = 0; link < long_chain; ++link) {
      tensor = from_dlpack(to_dlpack(tensor, access));
    }
    EXPECT_EQ(tensor.at<float>({1, 2}), 6);
    EXPECT_EQ(tensor.storage().use_count(), 1U);
    EXPECT_EQ(tensor.storage().origin(), Origin::allocated);
  }
}

/// Another library's tensor that wraps an export of byre.
template <class Managed>
struct Wrapper {
  explicit Wrapper(Managed* exported) : wrapped(exported), managed(*exported) {
    managed.manager_ctx = this;
    managed.deleter = [](Managed* self) {
      auto* const wrapper = static_cast<Wrapper*>(self->manager_ctx);
      wrapper->wrapped->deleter(wrapper->wrapped);
      delete wrapper;
    };
  }

  Managed* wrapped;
  Managed managed;
};

TEST(WrappedDLPackExport, a_chain_of_wrapped_exports_is_released_without_recursion) {
  for (const bool is_older : {false, true}) {
    const Tensor first = one_to_six();
    Tensor tensor = first;
    for (int link = 0; link < long_chain; ++link) {
      tensor = is_older ? from_dlpack(&(new Wrapper(to_older_dlpack(tensor)))->managed)
                        : from_dlpack(&(new Wrapper(to_dlpack(tensor)))->managed);
    }
    EXPECT_EQ(tensor.at<float>({1, 2}), 6);
    tensor = Tensor();
    EXPECT_FALSE(first.storage().is_pinned());
    EXPECT_EQ(first.storage().use_count(), 1U);
  }
}

}  // namespace
}  // namespace byre::test
