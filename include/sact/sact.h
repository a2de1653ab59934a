// The library: load a model, make a session or a detector, give it an image, get classes or boxes,
// ponder cost maps and the work that it took. docs/library.md is the guide; sact/c.h is the same
// for C.
//
// Images, models and results are immutable handles: cheap to copy, and any number of threads may
// use the same one. A session or detector has buffers of its own and serves one thread at a time.
//
// Whatever goes wrong is a sact::Error with one line of text.
#pragma once

#include "sact/detector.h"
#include "sact/error.h"
#include "sact/image.h"
#include "sact/model.h"
#include "sact/options.h"
#include "sact/session.h"
#include "sact/types.h"
