// `smctl sa`: asks the administration what a host would ask, and prints the records by field name.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "smd/app/administration.h"

namespace smd::app {

/// `args`: "record", a name, and "where", fields and their values as text. Gives {"record",
/// "count", "records"}, of which at most "limit" (1000) are shown. Whoever may use the socket is
/// trusted, but keys are not shown. Invalid when a name or a value is none; Busy before the subnet
/// is up; Refused, with the status, otherwise.
[[nodiscard]] Result<nlohmann::json> answer_sa_command(Administration& administration,
                                                       const nlohmann::json& args);

}  // namespace smd::app
