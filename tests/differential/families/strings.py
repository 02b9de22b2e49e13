"""Operators over strings, and those that move or compare them."""

import numpy as np

WORDS = ('', 'a', 'slip', 'Slip', 'WAY', 'a b', 'b,a', ',a,,b,', '  x  ', 'straße', 'Éa', '日本', 'a.b@c.de', 'x' * 40)


def words(m, shape, choices=WORDS):
    return np.array([m.pick(choices) for _ in range(int(np.prod(shape)))], dtype=object).reshape(shape)


def string_concat(m):
    shape = m.shape(0, 4)
    m.tested([m.data(words(m, shape)), m.data(words(m, m.broadcast(shape)))])


def string_split(m):
    delimiter = m.pick([None, '', ',', ' ', 'a', 'ab'])
    m.tested([m.data(words(m, m.shape(1, 3)))], 2, delimiter=delimiter, **m.sometimes(maxsplit=m.int(0, 3)))


def string_normalizer(m):
    count = m.int(1, 5)
    m.tested([m.data(words(m, m.pick([[count], [1, count]])))], case_change_action=m.pick(['LOWER', 'UPPER', 'NONE']),
             is_case_sensitive=m.int(0, 1), stopwords=m.pick([None, ['a'], ['slip', 'b,a']]))


def regex_full_match(m):
    m.tested([m.data(words(m, m.shape(0, 3)))], pattern=m.pick(['a.*', '[a-z]+', '(a|slip) ?b?', r'\w+@\w+\.de', '', '.*']))


def category_mapper(m):
    categories = list(dict.fromkeys(m.pick(WORDS) for _ in range(4)))
    known = dict(cats_strings=categories, cats_int64s=list(range(5, 5 + len(categories))))
    if m.chance(0.5):
        m.tested([m.data(words(m, m.shape(1, 3)))], default_int64=-7, **known)
    else:
        m.tested([m.data(m.rng.integers(4, 11, m.shape(1, 3)))], default_string='none', **known)


GENERATORS = {'StringConcat': string_concat, 'StringSplit': string_split, 'StringNormalizer': string_normalizer,
              'RegexFullMatch': regex_full_match}
CLASSICAL = {'CategoryMapper': category_mapper}
