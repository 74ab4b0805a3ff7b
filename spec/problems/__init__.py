"""Problems, rulings and causes of waiting, in words for people."""
