"""Hierarchy Drafting's n-gram databases (arXiv 2502.05609, Findings NAACL 2025): drafts without a model.

    c  context-dependent: the prompt and what was committed so far      (context_db.py; one per run)
    m  model-dependent: the commonest n-grams of what the target wrote  (model_db.py; static)
    s  statistics-dependent: suffix lookup in general text              (text_db.py; static)

`Databases` consults them in an order such as "cms"; `build` makes the static ones. Ids and numbers only; no torch.
"""

from hsd_core.ngram.context_db import ContextDatabase
from hsd_core.ngram.database_file import NgramError
from hsd_core.ngram.databases import Databases
from hsd_core.ngram.model_db import ModelDatabase, load_model_db
from hsd_core.ngram.opened import OpenedDatabases, open_databases
from hsd_core.ngram.text_db import TextDatabase, load_text_db
