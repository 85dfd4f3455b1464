"""R1. Interceptors that come with the runtime, made of the hooks of `mf.Interceptor` alone
(docs/interceptors.md):

    client = mf.Client("mf://localhost:7400", interceptors=[AccessLog(), Hedging(after=0.05)])
"""

from mf.core.tap import Tap
from mf.interceptors.access_log import AccessLog
from mf.interceptors.client_metrics import ClientMetrics
from mf.interceptors.hedging import Hedging
from mf.interceptors.limiter import Limiter
from mf.interceptors.recorder import Recorded, Recorder

__all__ = ["AccessLog", "ClientMetrics", "Hedging", "Limiter", "Recorded", "Recorder", "Tap"]
