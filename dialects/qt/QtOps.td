// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef QT_OPS_TD
#define QT_OPS_TD

include "dialects/qt/QtTensorOps.td"
include "dialects/qt/QtModelOps.td"
include "dialects/qt/QtCompoundOps.td"
include "dialects/qt/QtGradOps.td"
include "dialects/qt/QtStateOps.td"

#endif // QT_OPS_TD
