// The fields of each SA record by name: the data behind sa_fields.h.
#pragma once

#include <vector>

#include "smd/app/sa_fields.h"

namespace smd::app {

[[nodiscard]] std::vector<SaRecordText> make_sa_records();

}  // namespace smd::app
