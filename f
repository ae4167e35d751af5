a r b
b r c
c r a b
