# SPDX-License-Identifier: BSL-1.0
"""What goes to NumPy, PyTorch and buffers, and what comes from them: the same bytes, none copied."""
import ctypes
import gc
import io
import pickle
import struct
import threading
import weakref

import byre
import numpy as np
import pytest
from buffers import (
    ANY_CONTIGUOUS,
    C_CONTIGUOUS,
    F_CONTIGUOUS,
    FORMAT,
    ND,
    SIMPLE,
    STRIDES,
    WRITABLE,
    Buffer,
)
from capsules import Memory, Producer, TensorView, is_used, released, view_of, versioned_view_of
from pytorch import needs_pytorch, torch
from support import refused, same

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64"]


def address(array):
    return array.__array_interface__["data"][0]


@pytest.fixture
def copies():
    """How many copies byre has made since the test began."""
    before = byre.stats()
    return lambda: (byre.stats() - before).copies


# ---- to NumPy


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_sees_the_elements_and_no_copy(dtype, copies):
    theirs = np.arange(6).reshape(2, 3).astype(dtype)
    x = byre.array(theirs)
    seen = x.numpy()
    assert seen.dtype == dtype
    assert np.array_equal(seen, theirs)
    assert address(np.asarray(x)) == address(seen) == address(np.array(x, copy=False))
    assert copies() == 0


def test_numpy_sees_a_view_as_it_is(copies):
    x = byre.array(np.arange(24).reshape(2, 3, 4))
    seen = x[1, ::2].T.numpy()
    assert np.array_equal(seen, np.arange(24).reshape(2, 3, 4)[1, ::2].T)
    assert seen.strides == (8, 64)
    assert copies() == 0


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3)])
def test_numpy_sees_arrays_of_few_elements(shape):
    x = byre.full(shape, 7)
    for seen in (x.numpy(), x.numpy(writable=True), np.asarray(x)):
        assert seen.shape == shape
        assert (seen == 7).all()


def test_what_numpy_sees_to_read_is_not_written_and_cannot_be(copies):
    x = byre.array([1, 2, 3])
    for see in (x.numpy, lambda: np.asarray(x), lambda: np.asarray(memoryview(x)), x.__array__):
        seen = see()
        assert not seen.flags.writeable
        with pytest.raises(ValueError):
            seen.flags.writeable = True
        x[0] = 9
        assert list(seen) == [1, 2, 3]
        x[0] = 1
    assert copies() == 4  # one for each that was seen when x was written


def test_what_numpy_sees_to_write_is_an_alias(copies):
    x = byre.array([1, 2, 3])
    view = x[1:]
    seen = x.numpy(writable=True)
    assert copies() == 0
    seen[1] = 8
    x[2] = 9
    assert same(view, [8, 9])
    assert list(seen) == [1, 8, 9]


def test_a_copy_sees_no_write_through_an_export():
    x = byre.array([1, 2, 3])
    earlier = x.copy()
    seen = x.numpy(writable=True)
    later = x.copy()
    reshaped = x.reshape(3, 1)
    seen[0] = 9
    assert same(earlier, [1, 2, 3])
    assert same(later, [1, 2, 3])
    assert same(reshaped, [[1], [2], [3]])
    assert same(x, [9, 2, 3])


def test_copies_are_made_at_once_until_the_export_is_gone(copies):
    x = byre.zeros(100)
    seen = x.numpy(writable=True)
    x.copy()
    assert copies() == 1
    del seen
    x.copy()
    assert copies() == 1


def test_what_is_seen_keeps_the_memory():
    x = byre.array([1, 2, 3])
    read, written = x.numpy(), x.numpy(writable=True)
    del x
    gc.collect()
    assert list(read) == [1, 2, 3]
    written[0] = 9
    assert list(written) == [9, 2, 3]
    assert list(read) == [1, 2, 3]


def test_what_is_read_beside_a_writer_is_one_more_alias(copies):
    x = byre.array([1, 2, 3])
    written = x.numpy(writable=True)
    read = x.numpy()
    assert copies() == 0
    written[0] = 9
    assert list(read) == [9, 2, 3]
    del written
    x.copy()
    assert copies() == 1  # what is read is an alias still
    x[0] = 5
    assert list(read) == [5, 2, 3]


def test_array_makes_what_it_is_asked_for():
    x = byre.array([1, 2])
    assert np.asarray(x, dtype="float32").dtype == np.float32
    assert x.__array__(np.float64).dtype == np.float64
    copy = x.__array__(copy=True)
    copy[0] = 9
    assert same(x, [1, 2])
    assert address(x.__array__(copy=False)) == address(x.numpy())
    with refused(ValueError, "__array__ as another dtype without a copy"):
        x.__array__(np.float64, copy=False)


@needs_pytorch
def test_bfloat16_is_refused_by_what_does_not_have_it():
    x = byre.zeros(2, byre.bfloat16)
    for see in (x.numpy, x.__array__):
        with refused(TypeError, "of an array of bfloat16, which NumPy does not have", "astype('float32')"):
            see()
    with refused(BufferError, "bfloat16, for which Python has no format", "astype('float32')"):
        memoryview(x)
    assert torch.from_dlpack(x).dtype == torch.bfloat16


# ---- from NumPy


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpys_memory_is_shared_with_it(dtype, copies):
    theirs = np.ones((2, 3), dtype)
    ours = byre.from_numpy(theirs)
    assert same(ours, theirs)
    ours[0, 1] = 0
    assert theirs[0, 1] == 0
    theirs[1, 2] = 0
    assert ours[1, 2] == 0
    assert address(ours.numpy()) == address(theirs)
    assert copies() == 0


def test_a_copy_of_numpys_memory_is_made_at_once(copies):
    theirs = np.array([1, 2, 3])
    ours = byre.from_numpy(theirs)
    copy = ours.copy()
    assert copies() == 1
    theirs[0] = 9
    assert same(copy, [1, 2, 3])
    assert same(ours, [9, 2, 3])


def test_strides_of_numpy_are_kept():
    theirs = np.arange(24).reshape(4, 6)[::2, 1::2].T
    ours = byre.from_numpy(theirs)
    assert ours.strides == theirs.strides
    assert same(ours, theirs)
    ours[2, 1] = 99
    assert theirs[2, 1] == 99


def test_what_numpy_may_not_write_is_written_by_a_copy():
    theirs = np.array([1, 2, 3])
    read = theirs.view()
    read.flags.writeable = False
    ours = byre.from_numpy(read)
    copy = ours.copy()
    theirs[0] = 9
    assert same(ours, [9, 2, 3])  # an alias all the same
    assert same(copy, [1, 2, 3])
    ours[1] = 8
    assert list(theirs) == [9, 2, 3]
    assert same(ours, [9, 8, 3])


def test_memory_of_bytes_is_not_taken_for_immutable():
    theirs = pickle.loads(pickle.dumps(np.arange(1000.0)))
    assert theirs.flags.writeable and type(theirs.base) is bytes
    for source in (theirs, np.frombuffer(theirs.base)):
        copy = byre.from_numpy(source).copy()
        theirs[0] = 99
        assert copy[0] == 0
        theirs[0] = 0


def test_numpys_array_lives_as_long_as_its_memory_is_used():
    theirs = np.arange(3)
    alive = weakref.ref(theirs)
    ours = byre.from_numpy(theirs)
    view = ours[1:]
    seen = view.numpy()
    del theirs, ours, view
    gc.collect()
    assert alive() is not None
    assert list(seen) == [1, 2]
    del seen
    assert alive() is None


def test_numpys_array_is_let_go_of_by_a_write_that_leaves_it():
    theirs = np.arange(3)
    theirs.flags.writeable = False
    alive = weakref.ref(theirs)
    ours = byre.from_numpy(theirs)
    del theirs
    ours[0] = 7
    assert alive() is None
    assert same(ours, [7, 1, 2])


def test_what_numpy_has_and_byre_lacks_is_refused():
    with refused(ValueError, "stride of dimension 0 is -1", "never negative"):
        byre.from_numpy(np.arange(3)[::-1])
    with refused(TypeError, "uint16"):
        byre.from_numpy(np.zeros(3, "uint16"))
    with refused(TypeError, ">i4"):
        byre.from_numpy(np.zeros(3, ">i4"))
    with refused(TypeError, "from_numpy of an object of type list", "byre.array()"):
        byre.from_numpy([1, 2])
    packed = np.zeros(3, np.dtype([("a", "u1"), ("b", "f4")]))
    with refused(ValueError, "stride of dimension 0 is 5 bytes, and elements have 4"):
        byre.from_numpy(packed["b"])
    bools = np.array([0, 2], "uint8").view("bool")
    with refused(TypeError, "the bool at [1] is the byte 2"):
        byre.from_numpy(bools)
    alive = weakref.ref(bools)
    del bools
    assert alive() is None


def test_byres_memory_comes_back_from_numpy(copies):
    x = byre.array([1, 2, 3])
    back = byre.from_numpy(x.numpy())
    assert address(back.numpy()) == address(x.numpy())
    back[0] = 9
    assert same(x, [1, 2, 3])
    alias = byre.from_numpy(x.numpy(writable=True))
    alias[0] = 7
    assert same(x, [7, 2, 3])


# ---- buffers


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_buffer_says_what_the_elements_are(dtype):
    theirs = np.ones((2, 3), dtype)
    buffer = memoryview(byre.array(theirs))
    assert buffer.readonly
    assert (buffer.shape, buffer.strides, buffer.itemsize, buffer.nbytes) == (
        theirs.shape,
        theirs.strides,
        theirs.itemsize,
        theirs.nbytes,
    )
    assert np.asarray(buffer).dtype == dtype
    if buffer.format not in ("e", "Zf"):
        assert buffer.tobytes() == theirs.tobytes()


def test_a_buffer_of_a_view_has_its_strides():
    x = byre.array(np.arange(6).reshape(2, 3))
    assert memoryview(x.T).strides == (8, 24)
    assert memoryview(x[:, 1]).tolist() == [1, 4]
    assert memoryview(byre.full((), 5)).tolist() == 5
    assert memoryview(byre.zeros((0, 2))).tolist() == []


def test_bytes_of_what_is_out_of_order_are_refused():
    x = byre.array(np.arange(6).reshape(2, 3))
    for flags, words in [
        (SIMPLE, "contiguous in the order of C"),
        (C_CONTIGUOUS, "contiguous in the order of C"),
        (F_CONTIGUOUS, "in the order of Fortran"),
        (ANY_CONTIGUOUS, "that are contiguous"),
    ]:
        with refused(BufferError, words, "sizes [2] and strides [3]", "byre.array(x.numpy())"):
            Buffer(x[:, 1], flags)
    for flags in (SIMPLE, C_CONTIGUOUS, ANY_CONTIGUOUS):
        assert Buffer(x, flags).values(6)[5] == 5
    with refused(BufferError, "order of C"):
        Buffer(x.T, C_CONTIGUOUS)
    for flags in (F_CONTIGUOUS, ANY_CONTIGUOUS):
        assert Buffer(x.T, flags).values(6)[5] == 5


def test_a_buffer_has_what_was_asked_for_and_no_more():
    x = byre.zeros((2, 3))
    for flags, has in [
        (SIMPLE, (False, False, False)),
        (FORMAT, (True, False, False)),
        (ND, (False, True, False)),
        (STRIDES, (False, True, True)),
    ]:
        seen = Buffer(x, flags).seen
        assert (bool(seen.format), bool(seen.shape), bool(seen.strides)) == has
        assert (seen.len, seen.itemsize, seen.ndim, seen.readonly) == (48, 8, 2, 1)
    assert Buffer(x, WRITABLE).seen.readonly == 0
    assert Buffer(byre.zeros(0), SIMPLE).seen.buf


def test_a_writable_buffer_pins_until_it_and_its_array_are_gone(copies):
    x = byre.array([1, 2, 3])
    earlier = x.copy()
    given = x[:]
    buffer = Buffer(given, WRITABLE)
    assert copies() == 1  # earlier has them too
    later = x.copy()
    assert copies() == 2
    buffer.values(3)[0] = 9
    assert same(x, [9, 2, 3])
    assert same(earlier, [1, 2, 3])
    assert same(later, [1, 2, 3])
    del given
    x.copy()
    assert copies() == 3
    del buffer
    x.copy()
    assert copies() == 3
    given = x[:]
    Buffer(given, WRITABLE)
    x.copy()
    assert copies() == 4
    del given
    x.copy()
    assert copies() == 4


def test_what_writes_into_buffers_writes_into_an_array_alone():
    x = byre.zeros(3, "uint8")
    y = x.copy()
    io.BytesIO(b"abc").readinto(x)
    struct.pack_into("B", x, 1, 7)
    assert same(x, np.array([97, 7, 99], "uint8"))
    assert same(y, np.zeros(3, "uint8"))


@needs_pytorch
def test_who_keeps_the_array_of_a_released_buffer_writes_no_copy():
    x = byre.zeros(1000)
    theirs = np.ndarray(1000, buffer=x)
    copy = x.copy()
    theirs[0] = 9
    assert x[0] == 9 and copy[0] == 0
    alias = x[:]
    del x
    assert alias.copy()[0] == 9
    theirs[1] = 8
    assert alias[1] == 8
    before = byre.stats()
    del theirs
    alias.copy()
    assert (byre.stats() - before).copies == 0


@needs_pytorch
@pytest.mark.filterwarnings("ignore:The given buffer is not writable:UserWarning")
def test_who_keeps_the_array_of_a_buffer_to_read_sees_no_other_memory():
    x = byre.full(1000, 3.0)
    y = x.copy()
    with byre.no_copies():
        theirs = [np.ndarray(1000, buffer=x), np.frombuffer(x), torch.frombuffer(x, dtype=torch.float64)]
    x[0] = 1
    del y
    others = [byre.full(1000, 9.0) for _ in range(3)]
    assert [part[0] for part in theirs] == [3, 3, 3] and len(others) == 3
    assert not theirs[0].flags.writeable and not theirs[1].flags.writeable


def test_numpy_frombuffer_sees_to_read():
    x = byre.zeros(4)
    theirs = np.frombuffer(x)
    y = x.copy()
    assert not theirs.flags.writeable
    x[0] = 1
    assert theirs[0] == 0 and y[0] == 0


@needs_pytorch
def test_a_broadcast_is_not_given_out_to_be_written():
    x = byre.broadcast_to([1, 2], (3, 2))
    assert x.numpy().shape == (3, 2)
    for see in (lambda: x.numpy(writable=True), lambda: torch.from_dlpack(x), lambda: Buffer(x, WRITABLE | STRIDES)):
        with refused(BufferError, "in which elements are repeated", "Copy it first"):
            see()


@needs_pytorch
def test_who_keeps_the_owner_of_a_released_buffer_writes_no_copy():
    x = byre.zeros(3, "uint8")
    theirs = torch.frombuffer(x, dtype=torch.uint8)
    copy = x.copy()
    theirs[0] = 9
    assert same(x, np.array([9, 0, 0], "uint8"))
    assert same(copy, np.zeros(3, "uint8"))


# ---- DLPack


@needs_pytorch
@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype != "bool"] + ["bfloat16"])
def test_pytorch_sees_what_byre_has(dtype, copies):
    x = byre.array([[1, 0, 2], [3, 4, 5]]).astype(dtype)
    theirs = torch.from_dlpack(x)
    assert str(theirs.dtype) == f"torch.{dtype}"
    assert theirs.shape == (2, 3)
    assert theirs.to(torch.complex64).real.tolist() == [[1, 0, 2], [3, 4, 5]]
    capsule = x.__dlpack__()
    assert theirs.data_ptr() == view_of(capsule).data
    theirs[0, 0] = 7
    assert float(x[0, 0].real) == 7
    assert copies() == 0


@needs_pytorch
@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype != "bool"] + ["bfloat16"])
def test_byre_sees_what_pytorch_has(dtype, copies):
    theirs = torch.tensor([[1, 0, 2], [3, 4, 5]]).to(getattr(torch, dtype))
    ours = byre.from_dlpack(theirs)
    assert str(ours.dtype) == dtype
    ours[0, 0] = 7
    assert complex(theirs[0, 0].item()).real == 7
    theirs[1, 2] = 8
    assert complex(ours[1, 2]).real == 8
    assert copies() == 0
    assert (np.asarray(ours.astype("complex64")).real == [[7, 0, 2], [3, 4, 8]]).all()


@needs_pytorch
def test_a_copy_of_pytorchs_memory_is_made_at_once(copies):
    theirs = torch.arange(3)
    ours = byre.from_dlpack(theirs)
    copy = ours.copy()
    assert copies() == 1
    theirs[0] = 9
    assert same(copy, [0, 1, 2])


def test_numpy_takes_it_by_dlpack():
    x = byre.array([1.5, 2.5])
    assert np.array_equal(np.from_dlpack(x), [1.5, 2.5])
    assert same(byre.from_dlpack(np.array([1, 2])), [1, 2])


def test_dlpack_1_copies_nothing_and_is_read_only(copies):
    x = byre.array([1, 2, 3])
    y = x.copy()
    capsule = y.__dlpack__(max_version=(1, 0))
    seen = versioned_view_of(capsule)
    assert (seen.major, seen.minor, seen.flags) == (1, 1, 1)
    assert seen.tensor.data == address(x.numpy())
    back = byre.from_dlpack(capsule)
    assert copies() == 0
    y[0] = 9
    assert same(back, [1, 2, 3])
    back[1] = 8
    assert same(x, [1, 2, 3])


def test_dlpack_1_is_written_where_that_is_asked_for():
    x = byre.array([1, 2, 3])
    capsule = x.__dlpack__(max_version=(1, 5), writable=True)
    assert versioned_view_of(capsule).flags == 0
    alias = byre.from_dlpack(capsule)
    copy = x.copy()
    alias[0] = 9
    assert same(x, [9, 2, 3])
    assert same(copy, [1, 2, 3])


@pytest.mark.parametrize("version", [None, (0, 8), (1, 0)])
def test_a_copy_by_dlpack_is_the_consumers_own(version):
    x = byre.array([1, 2, 3])
    capsule = x.__dlpack__(max_version=version, copy=True)
    if version == (1, 0):
        assert versioned_view_of(capsule).flags == 2
    theirs = byre.from_dlpack(capsule)
    theirs[0] = 9
    assert same(x, [1, 2, 3])
    assert not byre.explain(x).endswith("pointer.")


@needs_pytorch
def test_older_dlpack_copies_what_is_shared_or_refuses(copies):
    x = byre.array([1, 2, 3])
    x.__dlpack__(copy=False)
    y = x.copy()
    with refused(BufferError, "__dlpack__ with copy=False", "max_version=(1, 0)"):
        x.__dlpack__(copy=False)
    assert copies() == 0
    theirs = torch.from_dlpack(x)
    assert copies() == 1
    theirs[0] = 9
    assert same(y, [1, 2, 3])
    read_only = np.frombuffer(b"abc", "uint8")
    with refused(BufferError, "copy=False"):
        byre.from_numpy(read_only).__dlpack__(copy=False)


def test_dlpack_of_an_unused_capsule_is_released(copies):
    x = byre.zeros(3)
    for version in (None, (1, 0)):
        capsule = x.__dlpack__(max_version=version, writable=True)
        x.copy()
        del capsule
    assert copies() == 2
    x.copy()
    assert copies() == 2


@needs_pytorch
def test_dlpack_is_on_the_host_alone():
    x = byre.zeros(3)
    assert x.__dlpack_device__() == (1, 0)
    x.__dlpack__(dl_device=(1, 0))
    with refused(BufferError, "__dlpack__ for device (2, 0)"):
        x.__dlpack__(dl_device=(2, 0))
    for version in ((), (1,), "10", ("1", 0)):
        with refused(TypeError, "max_version", "two ints"):
            x.__dlpack__(max_version=version)
    with refused(ValueError, "with a stream"):
        x.__dlpack__(stream=1)
    byre.from_dlpack(torch.zeros(2), device="cpu")
    with refused(ValueError, "from_dlpack to device cuda"):
        byre.from_dlpack(torch.zeros(2), device="cuda")


def test_a_library_is_asked_for_dlpack_1_and_told_of_a_wish_to_copy():
    producer = Producer([1, 2, 3])
    assert same(byre.from_dlpack(producer), [1, 2, 3])
    assert producer.asked == {"max_version": (1, 1)}
    byre.from_dlpack(producer, copy=False)
    assert producer.asked == {"max_version": (1, 1), "copy": False}


@needs_pytorch
def test_a_library_that_does_not_know_of_copies_is_copied_from(copies):
    theirs = torch.arange(3)
    ours = byre.from_dlpack(theirs, copy=True)
    theirs[0] = 9
    assert same(ours, [0, 1, 2])
    before = copies()
    ours.copy()
    assert copies() == before


@pytest.mark.parametrize("versioned", [False, True])
def test_a_producer_is_released_once(versioned):
    for use in (lambda array: None, lambda array: array.copy(), lambda array: array.numpy()):
        producer = Producer([1, 2, 3], versioned=versioned)
        capsule = producer.capsule()
        ours = byre.from_dlpack(capsule)
        assert is_used(capsule, versioned)
        kept = use(ours)
        assert released(producer) == 0
        del ours, kept
        assert released(producer) == 1
        del capsule
        assert released(producer) == 1


def test_an_array_of_byres_own_is_seen_as_a_view():
    x = byre.array([1, 2, 3])
    alias = byre.from_dlpack(x)
    alias[0] = 9
    assert same(x, [9, 2, 3])
    own = byre.from_dlpack(x, copy=True)
    own[0] = 7
    assert same(x, [9, 2, 3])


@needs_pytorch
def test_arrays_are_made_of_tensors_of_other_libraries(copies):
    for dtype in ("bfloat16", "float32", "int64", "bool"):
        theirs = torch.tensor([[1, 0], [1, 1]]).to(getattr(torch, dtype))
        for ours in (byre.array(theirs), byre.copy(theirs)):
            assert str(ours.dtype) == dtype
            theirs[0, 0] = 0
            assert float(ours[0, 0]) == 1
            theirs[0, 0] = 1
    assert byre.array(torch.ones(2, dtype=torch.bfloat16), "float32").dtype == np.float32
    assert same(byre.copy(np.arange(3)), np.arange(3))


def test_a_capsule_is_taken_once():
    producer = Producer([1, 2, 3])
    capsule = producer.capsule()
    ours = byre.from_dlpack(capsule)
    with refused(ValueError, 'a capsule named "used_dltensor_versioned"', "can be taken once"):
        byre.from_dlpack(capsule)
    assert same(ours, [1, 2, 3])


def test_flags_of_dlpack_1_are_heeded(copies):
    read_only = Producer([1, 2, 3], flags=1)
    ours = byre.from_dlpack(read_only)
    ours[0] = 9
    assert read_only.values == [1, 2, 3]
    assert released(read_only) == 1
    before = copies()
    own = byre.from_dlpack(Producer([1, 2, 3], flags=2))
    own.copy()
    assert copies() == before
    byre.from_dlpack(Producer([1, 2, 3], flags=0)).copy()
    assert copies() == before + 1


@pytest.mark.parametrize(
    "change, kind, words",
    [
        ({"major": 2}, ValueError, "version 2.0 of DLPack, and byre reads version 1"),
        ({"code": 2, "bits": 8}, TypeError, "type code 2, 8 bits"),
        ({"lanes": 2}, TypeError, "2 lanes"),
        ({"device_type": 2}, ValueError, "no device 2:0 is registered"),
        ({"ndim": -1}, ValueError, "-1 dimensions"),
        ({"ndim": 65}, ValueError, "65"),
        ({"ndim": 65, "code": 6, "bits": 8}, ValueError, "65"),
        ({"size": -1}, ValueError, "-1"),
        ({"stride": -1}, ValueError, "stride of dimension 0 is -1"),
        ({"stride": (1 << 63) - 1}, ValueError, "reach beyond"),
        ({"byte_offset": 1}, ValueError, "multiple of 8"),
        ({"data": None}, ValueError, "null pointer"),
    ],
)
def test_malformed_tensors_are_refused_and_released(change, kind, words):
    producer = Producer([1, 2, 3], change=change)
    with refused(kind, words):
        byre.from_dlpack(producer)
    assert released(producer) == 1


@pytest.mark.parametrize("version", [(0, 0), (0, 8), (2, 0), (2, 3), (0xFFFFFFFF, 0xFFFFFFFF)])
@pytest.mark.parametrize("change", [{}, {"ndim": 65}, {"code": 77}])
def test_another_major_version_is_refused_unread_and_released(version, change):
    major, minor = version
    producer = Producer([1, 2, 3], flags=1, change={"major": major, "minor": minor, **change})
    capsule = producer.capsule()
    with refused(ValueError, f"version {major}.{minor} of DLPack, and byre reads version 1", "Ask the exporter"):
        byre.from_dlpack(capsule)
    assert released(producer) == 1
    assert is_used(capsule, versioned=True)
    del capsule
    assert released(producer) == 1


@pytest.mark.parametrize("minor", [0, 1, 2, 0xFFFFFFFF])
def test_any_minor_version_of_dlpack_1_is_read(minor):
    producer = Producer([1, 2, 3], change={"minor": minor})
    assert same(byre.from_dlpack(producer), [1, 2, 3])
    assert released(producer) == 1


def test_what_is_no_tensor_is_refused():
    with refused(TypeError, "from_dlpack of an object of type int", "no __dlpack__"):
        byre.from_dlpack(3)
    class Failing:
        def __dlpack__(self, **wishes):
            raise RuntimeError("the device is on fire")
    with refused(RuntimeError, "on fire"):
        byre.from_dlpack(Failing())


# ---- errors under way


ENDS = {
    "capsule": lambda x: x.__dlpack__(),
    "versioned capsule": lambda x: x.__dlpack__(max_version=(1, 0)),
    "numpy": lambda x: x.numpy(),
    "buffer": memoryview,
    "array": lambda x: x,
}


@pytest.mark.parametrize("export", ENDS.values(), ids=ENDS)
def test_an_error_survives_exports_whose_end_runs_python_code(export):
    ended = []

    def fail():
        # The interpreter drops the first item while the error of the second one is set.
        return export(byre.from_numpy(np.asarray(Memory(ended)))), {}["missing"]

    with refused(KeyError, "missing"):
        fail()
    assert len(ended) == 1


# ---- what no_copies refuses


@needs_pytorch
def test_exports_that_copy_are_refused_where_copies_are():
    x = byre.array([1, 2, 3])
    y = x.copy()
    with byre.no_copies():
        x.numpy(), np.asarray(x), memoryview(x), x.__dlpack__(max_version=(1, 0))
        for see in (
            lambda: x.numpy(writable=True),
            lambda: torch.from_dlpack(x),
            lambda: Buffer(x, WRITABLE),
        ):
            with refused(byre.CopyRefused, "would copy 24 bytes, which other owners share"):
                see()
    seen = x.numpy(writable=True)
    with byre.no_copies():
        with refused(byre.CopyRefused, "copy would copy 24 bytes, which others may write"):
            x.copy()
    assert same(y, [1, 2, 3]) and list(seen) == [1, 2, 3]


# ---- threads


def test_exports_and_imports_end_on_any_thread():
    class Watched(np.ndarray):
        pass

    ended = []

    def exchange(number):
        for step in range(200):
            theirs = np.full(50_000, number).view(Watched)
            weakref.finalize(theirs, ended.append, 1)
            ours = byre.from_numpy(theirs)
            del theirs
            copy = ours.copy()
            seen = ours.numpy()
            written = copy.numpy(writable=True)
            written[0] = step
            assert seen[0] == number and copy[0] == step
            del ours, seen

    threads = [threading.Thread(target=exchange, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    byre.zeros(1)
    assert len(ended) == 800


def test_an_array_is_cloned_while_exports_of_it_end():
    x = byre.zeros(100_000)
    stop = threading.Event()

    def pin():
        while not stop.is_set():
            seen = x.numpy(writable=True)
            seen[...] = seen[0] + 1
            del seen

    def clone():
        while not stop.is_set():
            copy = x.copy()
            first = np.array(copy.numpy())
            x.numpy()
            assert np.array_equal(first, copy.numpy())

    threads = [threading.Thread(target=pin)] + [threading.Thread(target=clone) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(300):
        x.copy()
    stop.set()
    for thread in threads:
        thread.join()


def test_sizes_of_capsules_are_those_of_dlpack():
    assert ctypes.sizeof(TensorView) == 48
