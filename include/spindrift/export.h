// Marks what libspindrift.so exports; everything else is hidden.
#pragma once

#define SPINDRIFT_API [[gnu::visibility("default")]]
