// The whole public API.
#pragma once

#include "spindrift/engine.h"
#include "spindrift/ids.h"
#include "spindrift/intent.h"
#include "spindrift/memory.h"
#include "spindrift/segment.h"
#include "spindrift/status.h"
#include "spindrift/transfer.h"
#include "spindrift/version.h"
