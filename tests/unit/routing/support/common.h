// What most tests of routing read, compiled once.
#pragma once

#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "smd/routing/verify/channel_load.h"
#include "smd/routing/verify/check_routes.h"
