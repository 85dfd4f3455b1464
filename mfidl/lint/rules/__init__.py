"""All rules, in the order of their codes. A rule looks at one module and depends on no other rule."""

from collections.abc import Callable, Iterator

from mfidl.lint.rules import comments, enums, names, services, types, uses
from mfidl.lint.subject import Finding, Subject

Rule = Callable[[Subject], Iterator[Finding]]

RULES: dict[str, Rule] = {
    "L0101": names.types_in_camel_case,
    "L0102": names.names_in_snake_case,
    "L0103": names.constants_in_upper_case,
    "L0104": names.modules_in_lower_case,
    "L0105": names.names_like_built_in_words,
    "L0106": names.members_that_repeat_the_enum,
    "L0107": names.files_not_named_like_modules,
    "L0108": names.classes_that_give_way,
    "L0201": comments.services_without_doc,
    "L0202": comments.methods_without_doc,
    "L0203": comments.types_without_doc,
    "L0204": comments.doc_comments_lost,
    "L0205": comments.doc_comments_behind_code,
    "L0206": comments.notes_in_doc_comments,
    "L0207": comments.doc_comments_twice,
    "L0301": uses.unused_imports,
    "L0302": uses.errors_never_thrown,
    "L0303": uses.agents_never_used,
    "L0304": uses.deprecated_names,
    "L0401": enums.enums_without_zero,
    "L0402": enums.closed_enums,
    "L0501": services.getters_not_idempotent,
    "L0502": services.methods_without_deadline,
    "L0503": services.bools_in_a_row,
    "L0504": services.lists_of_singles,
    "L0505": services.agents_as_parameters,
    "L0506": services.unbounded_parameters,
    "L0507": services.many_parameters,
    "L0601": types.orders_that_waste_padding,
    "L0602": types.lists_of_bool,
    "L0603": types.lists_of_u8,
    "L0604": types.units_in_names,
    "L0605": types.optional_containers,
    "L0606": types.gaps_in_numbers,
    "L0607": types.tiers_not_pinned,
    "L0608": types.defaults_like_numbers,
}
