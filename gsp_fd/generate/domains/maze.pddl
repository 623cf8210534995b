; The way out of a maze without circles. No action needs the derived predicate: it is a feature for learned heuristics,
; which see only some doors far, and follows a way of any length.
(define (domain maze)
    (:requirements :strips :typing :equality :negative-preconditions :disjunctive-preconditions :existential-preconditions
        :derived-predicates)
    (:types cell)
    (:predicates
        (door ?x ?y - cell)
        (exit ?x - cell)
        (at ?x - cell)
        (leads-out ?x ?y - cell)
    )
    (:derived (leads-out ?x ?y - cell)
        (and
            (door ?x ?y)
            (or (exit ?y) (exists (?z - cell) (and (leads-out ?y ?z) (not (= ?z ?x)))))
        )
    )
    (:action go
        :parameters (?x ?y - cell)
        :precondition (and (at ?x) (door ?x ?y))
        :effect (and (at ?y) (not (at ?x)))
    )
)
