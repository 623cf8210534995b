// Tables that double at once: whether the memory limit leaves room for that is asked before.
#pragma once

#include "common.h"

namespace gsp {

/// To be called before a row is inserted. A RowSet doubles when it is half full, and both tables are there for a moment.
inline void expect_growth(const RowSet &rows, Watch *watch) {
    if (watch && 2 * rows.size() * sizeof(uint64_t) >= rows.bytes()) watch->expect(2 * rows.bytes());
}

}  // namespace gsp
