const RegisterLaw registered{{}};
