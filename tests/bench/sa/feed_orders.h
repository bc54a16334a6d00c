// Orders to the feed, one after the other, over a Unix socket; see feed_order.h.
#pragma once

#include <functional>

#include "tests/bench/sa/feed.h"

namespace smd::bench {

/// Blocks for ever. `wake`: there are questions.
void take_orders(Feed& feed, const std::function<void()>& wake);

}  // namespace smd::bench
