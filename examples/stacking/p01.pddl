(define (problem stacking-4-1222026470)
    (:domain stacking)
    (:objects
        b1 b2 b3 b4 - block
    )
    (:init
        (on b1 b2)
        (on b2 b4)
        (on b4 b3)
        (on-table b3)
        (wanted b1 b4)
        (wanted b2 b1)
        (wanted b3 b2)
        (wanted-on-table b4)
    )
    (:goal (and
        (in-place b1)
        (in-place b2)
        (in-place b3)
        (in-place b4)
    ))
)
