"""The theory of HSD over a measured profile: expected latency and the optimal hierarchy.

Globerson et al. 2025 (arXiv 2510.19705) state that the expected latency of any hierarchy has a formula and that the
optimal hierarchy is a generalized shortest path; both are computed here from costs c_i(n) and acceptances a_ij.
Numbers only: no weights, no tensors.
"""

from hsd_core.theory.latency.plans import LevelShare, Prediction, Ranked, StackPlan, has_specs, plan_of, stack_text
from hsd_core.theory.latency.recursion import closed_form, expected
from hsd_core.theory.profiles.costs import Costs, ProfileError
from hsd_core.theory.profiles.profile import ENGINE, TOKENWISE, VERSION, Profile, ProfileLevel, TextLengths
from hsd_core.theory.profiles.profile_json import profile_from, read_profile, write_profile
from hsd_core.theory.search.planner import Answer, Edge, Planner, best_plans, node_ms, path_edges
