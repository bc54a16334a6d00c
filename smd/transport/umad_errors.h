// What an errno of the kernel's management devices means to whoever runs us: one clear line that
// says what would be right.
#pragma once

#include <string>

#include "smd/base/result.h"

namespace smd {

enum class UmadStep { Open, Register, Send, Receive, ShowSm };

/// `where`: "mlx5_0 port 1".
[[nodiscard]] Error umad_error(UmadStep step, int error_number, const std::string& where);

}  // namespace smd
