; Miconic in ADL: everybody who waits gets in where the lift stops, and everybody who has arrived gets out. One action
; does for all passengers what the STRIPS domain needs one action each for.
(define (domain lift)
    (:requirements :strips :typing :negative-preconditions :disjunctive-preconditions :conditional-effects)
    (:types passenger floor)
    (:predicates
        (origin ?p - passenger ?f - floor)
        (destin ?p - passenger ?f - floor)
        (above ?low ?high - floor)
        (lift-at ?f - floor)
        (boarded ?p - passenger)
        (served ?p - passenger)
    )
    (:action stop
        :parameters (?f - floor)
        :precondition (lift-at ?f)
        :effect (and
            (forall (?p - passenger)
                (when (and (boarded ?p) (destin ?p ?f)) (and (not (boarded ?p)) (served ?p)))
            )
            (forall (?p - passenger)
                (when (and (origin ?p ?f) (not (served ?p))) (boarded ?p))
            )
        )
    )
    (:action move
        :parameters (?from ?to - floor)
        :precondition (and (lift-at ?from) (or (above ?from ?to) (above ?to ?from)))
        :effect (and (lift-at ?to) (not (lift-at ?from)))
    )
)
