from byre import _byre
