# SPDX-License-Identifier: BSL-1.0
"""Capsules of DLPack, made and read by ctypes: the older structure and that of DLPack 1."""
import ctypes

_python = ctypes.pythonapi
_python.PyCapsule_New.restype = ctypes.py_object
_python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_python.PyCapsule_GetPointer.restype = ctypes.c_void_p
_python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_python.PyCapsule_GetName.restype = ctypes.c_char_p
_python.PyCapsule_GetName.argtypes = [ctypes.py_object]


class TensorView(ctypes.Structure):
    """DLTensor."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = [("tensor", TensorView), ("context", ctypes.c_void_p), ("deleter", _Deleter)]


class ManagedVersioned(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", _Deleter),
        ("flags", ctypes.c_uint64),
        ("tensor", TensorView),
    ]


def view_of(capsule):
    pointer = _python.PyCapsule_GetPointer(capsule, b"dltensor")
    return Managed.from_address(pointer).tensor


def versioned_view_of(capsule):
    pointer = _python.PyCapsule_GetPointer(capsule, b"dltensor_versioned")
    return ManagedVersioned.from_address(pointer)


def is_used(capsule, versioned):
    name = b"used_dltensor_versioned" if versioned else b"used_dltensor"
    return _python.PyCapsule_GetName(capsule) == name


class Producer:
    """A library of one tensor of int64, which counts how often it was let go of. `change` makes it malformed."""

    def __init__(self, values, versioned=True, flags=0, change=None):
        change = dict(change or {})
        self._memory = (ctypes.c_int64 * len(values))(*values)
        self._shape = (ctypes.c_int64 * 1)(change.pop("size", len(values)))
        self._strides = (ctypes.c_int64 * 1)(change.pop("stride", 1))
        self._versioned = versioned
        self.released = 0
        self.asked = None
        self._deleter = _Deleter(self._release)
        tensor = TensorView(
            data=ctypes.addressof(self._memory),
            device_type=1,
            ndim=1,
            code=0,
            bits=64,
            lanes=1,
            shape=self._shape,
            strides=self._strides,
        )
        self._managed = (
            ManagedVersioned(
                major=change.pop("major", 1),
                minor=change.pop("minor", 0),
                deleter=self._deleter,
                flags=flags,
            )
            if versioned
            else Managed(deleter=self._deleter)
        )
        for name, value in change.items():
            setattr(tensor, name, value)
        self._managed.tensor = tensor

    def _release(self, managed):
        assert managed == ctypes.addressof(self._managed)
        self.released += 1

    @property
    def values(self):
        return list(self._memory)

    def capsule(self):
        name = b"dltensor_versioned" if self._versioned else b"dltensor"
        # Kept, as the capsule does not own its name.
        self._name = ctypes.c_char_p(name)
        return _python.PyCapsule_New(ctypes.addressof(self._managed), self._name, None)

    def __dlpack__(self, **wishes):
        self.asked = wishes
        return self.capsule()

    def __dlpack_device__(self):
        return (1, 0)


def released(producer):
    return producer.released


_Destructor = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Memory:
    """Three elements of int64 for NumPy. Their end runs Python code, and leaves an error that is set to it."""

    def __init__(self, ended):
        self._values = (ctypes.c_int64 * 3)(1, 2, 3)
        self.__array_interface__ = {
            "version": 3,
            "typestr": "=i8",
            "shape": (3,),
            "data": (ctypes.addressof(self._values), False),
        }
        # Kept by its own function until that ran.
        destructor = _Destructor(lambda capsule: ended.append(destructor))
        address = ctypes.cast(destructor, ctypes.c_void_p)
        self._capsule = _python.PyCapsule_New(address, None, address)
