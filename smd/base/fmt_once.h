// Precompiled after fmt's headers. fmt 9 declares nowhere that its library has this function: each
// file that formats into a buffer would compile it again, for 2 to 3 s.
#pragma once

#include <fmt/format.h>

#ifndef FMT_HEADER_ONLY
extern template void fmt::detail::vformat_to(fmt::detail::buffer<char>&,
                                             fmt::string_view,
                                             fmt::format_args,
                                             fmt::detail::locale_ref);
#endif
